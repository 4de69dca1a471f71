// Files in large pieces, and an output that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tool {

/// Bytes read or written at once: large enough to hide the call, small enough to show progress.
inline constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 25;

/// A regular file, read only.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Reads exactly `bytes` bytes; a file that became shorter is a failure.
  void read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const;
  bool is_also(const std::string& other_path) const;

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Written beside `path` under another name; `commit` gives it its name. Without a commit nothing is
/// left of it, not even when SIGINT, SIGTERM or SIGHUP ends the process. One at a time.
class OutputFile {
 public:
  OutputFile(const std::string& path, std::uint64_t expected_bytes);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* from, std::uint64_t bytes);
  /// Where the bytes lie until then, for others who write some of them.
  const std::string& temporary_path() const { return temporary_; }
  /// Waits until the bytes are on the disk, then replaces what had the name.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string path_, target_, temporary_;
  int descriptor_ = -1;
};

/// Refuses an output that is the input by another name (or by the same).
void require_distinct(const InputFile& input, const std::string& output_path);

/// Errors come as return codes, also those of file-size limits.
void ignore_file_size_signal();

}  // namespace tool
