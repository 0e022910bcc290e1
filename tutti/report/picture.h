// The picture of a page: comparisons as bars and runs as timelines, one below the other, as one SVG
// file for READMEs, papers and slides. Runs share one time axis, so that they can be compared. It
// has light and dark colours and needs no script. The page (tutti/report/page.h) shows more.

#ifndef TUTTI_REPORT_PICTURE_H_
#define TUTTI_REPORT_PICTURE_H_

#include <string>

#include "tutti/base/result.h"
#include "tutti/report/page.h"

namespace tutti {

// Fails if the page has neither runs with a timeline nor comparisons. The size of the result does
// not grow with the number of spans: what is narrower than half a pixel is drawn together.
Result<std::string> picture(const Page& page);

}  // namespace tutti

#endif  // TUTTI_REPORT_PICTURE_H_
