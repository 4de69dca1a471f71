#include <cstdio>
#include <exception>
#include <string>

#include "command_line.hpp"
#include "file.hpp"
#include "ranks.hpp"
#include "report.hpp"

namespace {

const std::string prefix = "kradix: ";

}  // namespace

int main(int argc, char** argv) {
  const tool::Ranks ranks;
  try {
    tool::ignore_file_size_signal();
    return tool::run_command_line(argc, argv);
  } catch (const std::exception& error) {
    const bool common = dynamic_cast<const tool::CommonError*>(&error) != nullptr;
    if (common && tool::Ranks::rank() != 0) return 1;
    std::string message = tool::one_line(error.what());
    if (message.starts_with(prefix)) message.erase(0, prefix.size());  // the library's own
    std::fprintf(stderr, "%s%s\n", prefix.c_str(), message.c_str());
    if (!common && tool::Ranks::size() > 1) tool::Ranks::abort();  // the others would wait
    return 1;
  }
}
