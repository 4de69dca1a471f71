// A plot of lines over logarithmic axes, as SVG.
#pragma once

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace scale_model {

struct Line {
  std::string name, color, dashes;
  std::vector<double> x, y;
};

class Plot {
 public:
  Plot(double x_min, double x_max, double y_min, double y_max)
      : x_min_(std::log10(x_min)),
        x_max_(std::log10(x_max)),
        y_min_(std::log10(y_min)),
        y_max_(std::log10(y_max)) {}

  void add(const Line& line) { lines_.push_back(line); }

  void write(const std::string& path, const std::string& title, const std::string& x_name,
             const std::string& y_name) const {
    std::ofstream out(path);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"460\" "
           "font-family=\"sans-serif\" "
           "font-size=\"13\">\n<rect width=\"760\" height=\"460\" fill=\"white\"/>\n";
    text(out, 60, 24, title, "start");
    text(out, 290, 452, x_name, "middle");
    text(out, 60, 44, y_name, "start");
    for (double d = y_min_; d <= y_max_ + 1e-9; ++d)
      grid(out, left, y(d), right, y(d), label(d), left - 6, y(d) + 4, "end");
    for (double d = x_min_; d <= x_max_ + 1e-9; ++d)
      grid(out, x(d), top, x(d), bottom, label(d), x(d), bottom + 18, "middle");
    double at = top + 10;
    for (const Line& line : lines_) {
      out << "<polyline fill=\"none\" stroke=\"" << line.color
          << "\" stroke-width=\"2\" stroke-dasharray=\"" << line.dashes << "\" points=\"";
      for (std::size_t i = 0; i < line.x.size(); ++i)
        out << number(x(std::log10(line.x[i]))) << ',' << number(y(std::log10(line.y[i]))) << ' ';
      out << "\"/>\n<line x1=\"530\" x2=\"555\" y1=\"" << at << "\" y2=\"" << at << "\" stroke=\""
          << line.color << "\" stroke-width=\"2\" stroke-dasharray=\"" << line.dashes << "\"/>\n";
      text(out, 562, at + 4, line.name, "start");
      at += 22;
    }
    out << "</svg>\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
  }

 private:
  static constexpr double left = 60, right = 515, top = 55, bottom = 415;

  double x(double decade) const {
    return left + (decade - x_min_) / (x_max_ - x_min_) * (right - left);
  }
  double y(double decade) const {
    return bottom - (decade - y_min_) / (y_max_ - y_min_) * (bottom - top);
  }
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
  }
  static std::string label(double decade) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::pow(10, decade));
    return text;
  }
  static void text(std::ofstream& out, double x, double y, const std::string& what,
                   const char* anchor) {
    out << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\" text-anchor=\"" << anchor
        << "\">" << what << "</text>\n";
  }
  static void grid(std::ofstream& out, double x1, double y1, double x2, double y2,
                   const std::string& what, double x, double y, const char* anchor) {
    out << "<line x1=\"" << number(x1) << "\" y1=\"" << number(y1) << "\" x2=\"" << number(x2)
        << "\" y2=\"" << number(y2) << "\" stroke=\"#ccc\"/>\n";
    text(out, x, y, what, anchor);
  }

  double x_min_, x_max_, y_min_, y_max_;
  std::vector<Line> lines_;
};

}  // namespace scale_model
