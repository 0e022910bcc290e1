#include "tutti/kernels/cuda/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace tutti::cuda {
namespace {

constexpr const char* kNames[] = {"libcublas.so.13", "libcublas.so.12"};

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t result{};
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0) {
    found.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  }
  globfree(&result);
  return found;
}

// Folders in which CUDA puts its libraries, or Python those of its packages; "*" stands for any.
std::vector<std::string> usual_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) folders.push_back(std::string(root) + "/lib64");
  }
  folders.insert(folders.end(), {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64"});
  std::vector<std::string> pythons = {"/usr/local", "/usr", "/opt/*"};
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* root = std::getenv(variable)) pythons.insert(pythons.begin(), root);
  }
  for (const std::string& root : pythons) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const std::string folder = fmt::format("{}/lib/python3*/{}/nvidia", root, packages);
      folders.push_back(folder + "/cu13/lib");
      folders.push_back(folder + "/cublas/lib");
    }
  }
  return folders;
}

void* open_library(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

Result<void*> find_library() {
  if (const char* path = std::getenv("TUTTI_CUBLAS"); path != nullptr && *path != '\0') {
    if (void* library = open_library(path)) return library;
    return failed(
        fmt::format("TUTTI_CUBLAS names '{}', which cannot be opened: {}", path, dlerror()));
  }
  for (const char* name : kNames) {
    if (void* library = open_library(name)) return library;
  }
  for (const std::string& folder : usual_folders()) {
    for (const char* name : kNames) {
      for (const std::string& path : matches(folder + "/" + name)) {
        if (void* library = open_library(path)) return library;
      }
    }
  }
  return failed(
      "cuBLAS, which multiplies matrices on GPUs, cannot be found; set TUTTI_CUBLAS to the path of "
      "libcublas.so.13 or libcublas.so.12");
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Cublas> load() {
  const Result<void*> library = find_library();
  if (!library) return library.error();
  Cublas found;
  if (!find(*library, "cublasCreate_v2", found.create) ||
      !find(*library, "cublasDestroy_v2", found.destroy) ||
      !find(*library, "cublasSetStream_v2", found.set_stream) ||
      !find(*library, "cublasSetMathMode", found.set_math_mode) ||
      !find(*library, "cublasSetSmCountTarget", found.set_multiprocessors) ||
      !find(*library, "cublasGemmStridedBatchedEx_64", found.multiply) ||
      !find(*library, "cublasStrsm_v2_64", found.solve) ||
      !find(*library, "cublasSsyrk_v2_64", found.multiply_symmetric)) {
    return failed("the cuBLAS of this host is older than CUDA 12; set TUTTI_CUBLAS to a later one");
  }
  return found;
}

}  // namespace

Result<const Cublas*> Cublas::open() {
  static const Result<Cublas> loaded = load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

Result<void> cublas_done(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    return infeasible(fmt::format("{}: cuBLAS finds no room in the GPU's memory", doing));
  }
  return failed(fmt::format("{}: cuBLAS fails with status {}", doing, static_cast<int>(status)));
}

}  // namespace tutti::cuda
