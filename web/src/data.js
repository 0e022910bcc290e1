// Reads what the program put into the page. Small things are JSON; long columns are whole numbers,
// seven bits to a byte, in base 64 (tutti/report/columns.h writes them).

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

class Reader {
  constructor(base64) {
    this.bytes = bytesOf(base64);
    this.at = 0;
  }
  // Beyond 32 bits shifts would lose digits.
  whole() {
    let value = 0;
    let place = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * place;
      if (byte < 128) return value;
      place *= 128;
    }
  }
  signed() {
    const value = this.whole();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

function wholes(base64, count, Kind = Float64Array) {
  const column = new Kind(count);
  if (base64 === '') return column; // a column of zeros is left out
  const reader = new Reader(base64);
  for (let i = 0; i < count; ++i) column[i] = reader.whole();
  return column;
}

// Each name repeats the beginning of the one before it.
function names(base64, count) {
  const reader = new Reader(base64);
  const decoder = new TextDecoder();
  const list = new Array(count);
  let last = new Uint8Array(0);
  for (let i = 0; i < count; ++i) {
    const kept = reader.whole();
    const more = reader.whole();
    const name = new Uint8Array(kept + more);
    name.set(last.subarray(0, kept));
    name.set(reader.bytes.subarray(reader.at, reader.at + more), kept);
    reader.at += more;
    list[i] = decoder.decode(name);
    last = name;
  }
  return list;
}

class Graph {
  constructor(raw) {
    this.size = raw.ops;
    this.names = names(raw.names, raw.ops);
    this.kinds = raw.kinds;
    this.kindOf = wholes(raw.kind_of, raw.ops, Int32Array);
    this.groups = raw.groups;
    this.groupOf = wholes(raw.group_of, raw.ops, Int32Array); // from 1; 0: none
    this.bytes = wholes(raw.bytes, raw.ops);
    this.flops = wholes(raw.flops, raw.ops);
    this.readProducers(raw.producers);
  }

  readProducers(base64) {
    const reader = new Reader(base64);
    this.producerBegin = new Int32Array(this.size + 1);
    const list = [];
    for (let op = 0; op < this.size; ++op) {
      for (let left = reader.whole(); left > 0; --left) list.push(op - reader.signed());
      this.producerBegin[op + 1] = list.length;
    }
    this.producerList = Int32Array.from(list);
  }

  producers(op) {
    return this.producerList.subarray(this.producerBegin[op], this.producerBegin[op + 1]);
  }

  consumers(op) {
    if (!this.consumerList) this.indexConsumers();
    return this.consumerList.subarray(this.consumerBegin[op], this.consumerBegin[op + 1]);
  }

  indexConsumers() {
    const begin = new Int32Array(this.size + 1);
    for (const op of this.producerList) ++begin[op + 1];
    for (let op = 0; op < this.size; ++op) begin[op + 1] += begin[op];
    const next = begin.slice();
    this.consumerList = new Int32Array(this.producerList.length);
    for (let op = 0; op < this.size; ++op) {
      for (const producer of this.producers(op)) this.consumerList[next[producer]++] = op;
    }
    this.consumerBegin = begin;
  }
}

const kWhy = ['start', 'data', 'slot', 'channel', 'memory', 'wait'];

// What one run drew. Marks are what stands on lanes, sorted by lane and start: op spans, and
// transfers, once for each channel that they hold.
class Run {
  constructor(raw, graph) {
    Object.assign(this, {name: raw.name, what: raw.what, by: raw.by, makespan: raw.makespan_ns});
    this.stats = raw.stats;
    this.opCount = raw.ops.count;
    this.readTransfers(raw.transfers);
    this.readMarks(raw, graph);
    this.readCritical(raw.critical);
    this.readResources(raw, graph);
  }

  // Memories over time, what the costs say of each op (none if all took just that), and what was done with weights.
  readResources(raw, graph) {
    this.memory = raw.memory.map(({count, time, bytes}) => {
      const times = new Reader(time);
      const uses = new Reader(bytes);
      const use = {count, time: new Float64Array(count), bytes: new Float64Array(count)};
      for (let i = 0; i < count; ++i) {
        use.time[i] = (i > 0 ? use.time[i - 1] : 0) + times.signed();
        use.bytes[i] = (i > 0 ? use.bytes[i - 1] : 0) + uses.signed();
      }
      return use;
    });
    this.expected = raw.expected === '' ? null : wholes(raw.expected, graph.size);
    this.weights = raw.weights;
  }

  readTransfers(raw) {
    const count = raw.count;
    const values = raw.values.count;
    this.transferCount = count;
    this.valueProducer = wholes(raw.values.producer, values, Int32Array).map((op) => op - 1);
    this.valueBytes = wholes(raw.values.bytes, values);
    this.valueNames = names(raw.values.names, values); // empty: its producer's
    this.value = wholes(raw.value, count, Int32Array);
    this.from = wholes(raw.from, count, Int32Array);
    this.to = wholes(raw.to, count, Int32Array);
    this.hop = wholes(raw.hop, count, Int32Array);
    this.transferStart = new Float64Array(count);
    this.transferFinish = new Float64Array(count);
    const starts = new Reader(raw.start);
    const lengths = new Reader(raw.length);
    let last = 0;
    for (let i = 0; i < count; ++i) {
      last += starts.signed();
      this.transferStart[i] = last;
      this.transferFinish[i] = last + lengths.whole();
    }
  }

  readMarks(raw, graph) {
    const ops = new Reader(raw.ops.op);
    const gaps = new Reader(raw.ops.gap);
    const lengths = new Reader(raw.ops.length);
    const shown = new Reader(raw.transfers.shown);
    const count = raw.lanes.reduce((sum, lane) => sum + lane.count, 0);
    this.start = new Float64Array(count);
    this.finish = new Float64Array(count);
    this.subject = new Int32Array(count); // an op, or for lanes without a device a transfer
    this.laneOf = new Int32Array(count);
    this.markOfOp = new Int32Array(graph.size).fill(-1);
    this.marksOfTransfer = new Int32Array(this.transferCount).fill(-1); // the first
    this.lanes = [];
    let mark = 0;
    let op = 0;
    let transfer = 0;
    for (const lane of raw.lanes) {
      const begin = mark;
      const isDevice = lane.device >= 0;
      let last = 0;
      let longest = 0;
      for (; mark < begin + lane.count; ++mark) {
        this.laneOf[mark] = this.lanes.length;
        if (isDevice) {
          op += ops.signed();
          this.subject[mark] = op;
          this.start[mark] = last + gaps.signed();
          this.finish[mark] = last = this.start[mark] + lengths.whole();
          if (this.markOfOp[op] < 0) this.markOfOp[op] = mark;
        } else {
          transfer += shown.signed();
          this.subject[mark] = transfer;
          this.start[mark] = this.transferStart[transfer];
          this.finish[mark] = this.transferFinish[transfer];
          if (this.marksOfTransfer[transfer] < 0) this.marksOfTransfer[transfer] = mark;
        }
        longest = Math.max(longest, this.finish[mark] - this.start[mark]);
      }
      this.lanes.push({...lane, isDevice, begin, end: mark, longest});
    }
  }

  readCritical(raw) {
    const subject = new Reader(raw.subject);
    const why = new Reader(raw.why);
    this.critical = [];
    this.criticalMarks = new Set();
    for (let i = 0; i < raw.count; ++i) {
      const coded = subject.whole();
      const isOp = coded % 2 === 0;
      const index = Math.floor(coded / 2);
      const mark = isOp ? this.markOfOp[index] : this.marksOfTransfer[index];
      this.critical.push({isOp, index, mark, why: kWhy[why.whole()]});
      if (mark >= 0) this.criticalMarks.add(mark);
    }
    this.criticalTime = {ops: raw.ops_ns, transfers: raw.transfers_ns, waits: raw.waits_ns};
  }

  valueName(graph, value) {
    return this.valueNames[value] || graph.names[this.valueProducer[value]];
  }
}

// The data of a page: `raw` is what was parsed.
export function readReport(raw) {
  const graph = raw.graph ? new Graph(raw.graph) : null;
  const runs = graph ? raw.runs.map((run) => new Run(run, graph)) : [];
  return {...raw, graph, runs};
}
