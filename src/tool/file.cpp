#include "file.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace tool {

namespace {

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

// A signal handler may call unlink but may not touch a std::string.
constexpr std::size_t path_limit = 4096;
char temporary_to_remove[path_limit];
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void remove_temporary_and_end(int signal) {
  if (temporary_to_remove[0] != '\0') unlink(temporary_to_remove);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void remember_temporary(const std::string& path) {
  if (path.size() >= path_limit) throw std::runtime_error(path + ": name too long");
  std::memcpy(temporary_to_remove, path.c_str(), path.size() + 1);
  for (const int signal : ending_signals) {
    // nohup's choice to ignore a signal stays.
    if (std::signal(signal, remove_temporary_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void forget_temporary() {
  for (const int signal : ending_signals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  temporary_to_remove[0] = '\0';
}

std::string temporary_beside(const std::string& target) {
  std::random_device random;
  char name[32];
  std::snprintf(name, sizeof name, ".kradix-%08x%08x", random(), random());
  return (std::filesystem::path(target).parent_path() / name).string();
}

/// Refuses early what cannot end well: hours of sorting may lie before the last byte is written.
void require_space(const std::string& target, std::uint64_t bytes) {
  const std::string folder = std::filesystem::path(target).parent_path().string();
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) fail_with_errno("cannot write into " + folder);
  const auto available = static_cast<uint64_t>(space.f_bavail);
  if (bytes / space.f_frsize <= available) return;
  throw std::runtime_error(target + " needs " + std::to_string(bytes) + " bytes, " + folder +
                           " has " + std::to_string(available * space.f_frsize) + " free");
}

}  // namespace

InputFile::InputFile(std::string path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_with_errno("cannot read " + path_);
  struct stat status {};
  const int failed = fstat(descriptor_, &status);
  if (failed || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw std::runtime_error("cannot read " + path_ + ": not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

void InputFile::read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  auto* place = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const auto piece = static_cast<std::size_t>(std::min(bytes, chunk_bytes));
    const ssize_t got = pread(descriptor_, place, piece, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("cannot read " + path_);
    if (got == 0) {
      throw std::runtime_error("cannot read " + path_ + ": it ends at byte " +
                               std::to_string(offset) + ", it had " + std::to_string(size_));
    }
    place += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

bool InputFile::is_also(const std::string& other_path) const {
  struct stat mine {
  }, other{};
  return fstat(descriptor_, &mine) == 0 && stat(other_path.c_str(), &other) == 0 &&
         mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

OutputFile::OutputFile(const std::string& path, std::uint64_t expected_bytes) : path_(path) {
  // Through a symbolic link, as a shell's redirection would; and never over a device or a folder.
  target_ = std::filesystem::weakly_canonical(std::filesystem::absolute(path)).string();
  struct stat status {};
  if (stat(target_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw std::runtime_error("cannot write " + path_ + ": not a regular file");
  }
  require_space(target_, expected_bytes);
  temporary_ = temporary_beside(target_);
  remember_temporary(temporary_);
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int why = errno;
    forget_temporary();
    errno = why;
    fail("");
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget_temporary();
}

void OutputFile::fail(const std::string& what) const {
  fail_with_errno("cannot write " + path_ + what);
}

void OutputFile::write(const void* from, std::uint64_t bytes) {
  const auto* place = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const auto piece = static_cast<std::size_t>(std::min(bytes, chunk_bytes));
    const ssize_t put = ::write(descriptor_, place, piece);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("");
    place += put;
    bytes -= static_cast<std::uint64_t>(put);
  }
}

void OutputFile::commit() {
  if (fsync(descriptor_) != 0) fail("");
  if (close(std::exchange(descriptor_, -1)) != 0) fail("");
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("");
  temporary_.clear();
  forget_temporary();
}

void require_distinct(const InputFile& input, const std::string& output_path) {
  if (!input.is_also(output_path)) return;
  throw std::runtime_error(output_path + " is the input itself, which is never changed");
}

void ignore_file_size_signal() {
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tool
