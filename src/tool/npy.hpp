// NumPy's .npy files of one-dimensional arrays, versions 1.0 and 2.0.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>

#include "file.hpp"

namespace tool {

struct NpyHeader {
  std::string dtype;
  std::uint64_t count;
  std::uint64_t bytes;  ///< of the header: the elements follow
};

/// Is this the name of a .npy file? The name decides, for inputs and outputs alike.
bool is_npy(const std::string& path);

NpyHeader read_npy_header(const InputFile& file);

/// The header that numpy.save writes, version 1.0.
std::string npy_header(const std::string& dtype, std::uint64_t count);

}  // namespace tool
