// What the C++ programs of `cargo xtask peers` share: reading the exported robot, timing, one row of the table.
#pragma once

#include <boost/json/src.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace json = boost::json;

inline json::value read(const char *path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    std::stringstream text;
    text << file.rdbuf();
    return json::parse(text.str());
}

inline Eigen::VectorXd vector(const json::value &list) {
    const auto &items = list.as_array();
    Eigen::VectorXd v(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) v[i] = items[i].to_number<double>();
    return v;
}

inline Eigen::Matrix3d matrix3(const json::value &rows) {
    Eigen::Matrix3d m;
    for (int i = 0; i < 3; ++i) m.row(i) = vector(rows.as_array()[i]).transpose();
    return m;
}

inline std::vector<int> integers(const json::value &list) {
    std::vector<int> all;
    for (const auto &x : list.as_array()) all.push_back(x.to_number<int>());
    return all;
}

// Largest difference, as a share of the largest wanted number.
inline double apart(const Eigen::VectorXd &found, const Eigen::VectorXd &wanted) {
    const double worst = (found - wanted).cwiseAbs().maxCoeff() / wanted.cwiseAbs().maxCoeff();
    return std::isfinite(worst) ? worst : std::numeric_limits<double>::max();
}

// Nanoseconds per state, best and median of all turns through the states in 0.3 s.
template <class Call> json::object measured(std::size_t states, Call call) {
    using clock = std::chrono::steady_clock;
    std::vector<double> turns;
    const auto start = clock::now();
    while (clock::now() - start < std::chrono::milliseconds(300) || turns.size() < 5) {
        const auto turn = clock::now();
        for (std::size_t i = 0; i < states; ++i) call(i);
        turns.push_back(std::chrono::duration<double, std::nano>(clock::now() - turn).count() / states);
    }
    std::sort(turns.begin(), turns.end());
    return {{"best_ns", turns.front()}, {"median_ns", turns[turns.size() / 2]}};
}

// Keeps a result alive without storing it.
template <class T> inline void keep(const T &value) { asm volatile("" : : "r"(&value) : "memory"); }
