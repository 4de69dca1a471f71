// Cases that another program asks for one by one.
#pragma once

namespace bench {

/// Prints the machine as JSON, then reads the options of one case a line from the standard input and
/// answers each with one line of JSON: the measurement, or {"error": ...}.
void run_stream();

}  // namespace bench
