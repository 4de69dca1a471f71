// From the words of the command line to one command.
#pragma once

namespace tool {

/// Runs what the arguments ask for. Returns the exit status; failures are exceptions.
int run_command_line(int argc, char** argv);

}  // namespace tool
