// What reads bytes from outside, as functions of bytes: for libFuzzer (preset `fuzz`, fuzz/run.py) and for the ordinary
// tests, which run stored inputs and mutations of good ones.
//
// A function returns when the bytes were read or refused. A finding is whatever does not return: a signal, a failed
// CHECK, a sanitizer's report, an exception (also bad_alloc: bounded_new.cc lets nobody have more in one piece than
// kMostBytesAtOnce), an endless loop.
// Thread safety: pure functions; each input has a world of its own.
#ifndef VIGIL_FUZZ_TARGETS_H_
#define VIGIL_FUZZ_TARGETS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vigil::fuzz {

inline constexpr std::size_t kMostBytesAtOnce = std::size_t{512} << 20;

using Bytes = std::span<const std::uint8_t>;
inline std::string_view TextOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// How inputs are made of bytes: what a mutation may change without all of it being refused at once (mutate.h).
enum class Form : std::uint8_t {
  kText,     // words, numbers, brackets
  kMessage,  // a protocol buffer
  kRecords,  // framed protocol buffers: an events file, a trace
  kParts,    // several: each a byte that says what it is, its length as 4 bytes, and a protocol buffer
};

struct Target {
  std::string_view name;
  Form form;
  int (*run)(Bytes);
  std::vector<std::string> (*seeds)();  // good inputs
};

// Sorted by name.
std::span<const Target> Targets();
// Runs it. What the killing of its only task leaves behind (fuzz_env.h) is no finding.
int RunTarget(const Target& target, Bytes bytes);

// Scenario files; traces of programs.
int FuzzScenario(Bytes bytes);
int FuzzTrace(Bytes bytes);
// GraphDef: import, export, import; and a run of every node. MetaGraphDef in bytes, with its saver; in text, from a
// file. SaverDef, against a graph that has a saver.
int FuzzGraphDef(Bytes bytes);
int FuzzGraphRun(Bytes bytes);
int FuzzMetaGraph(Bytes bytes);
int FuzzMetaText(Bytes bytes);
int FuzzSaverDef(Bytes bytes);
// The state file of checkpoints; a checkpoint of any format (the index in parts, without the checksums that would
// refuse everything, and the data); events files.
int FuzzState(Bytes bytes);
int FuzzBundle(Bytes bytes);
int FuzzEvents(Bytes bytes);
// TensorProto by both of its readers, which must agree; names of devices; a record of CSV; an Example, by our reader
// and by protobuf's, which must agree on what either writes or reads whole; what comes to a worker and a master, one
// request after the other.
int FuzzTensor(Bytes bytes);
int FuzzDevice(Bytes bytes);
int FuzzCsv(Bytes bytes);
int FuzzExample(Bytes bytes);
int FuzzWire(Bytes bytes);

std::vector<std::string> ScenarioSeeds();
std::vector<std::string> TraceSeeds();
std::vector<std::string> GraphSeeds();
std::vector<std::string> MetaGraphSeeds();
std::vector<std::string> MetaTextSeeds();
std::vector<std::string> SaverDefSeeds();
std::vector<std::string> StateSeeds();
std::vector<std::string> BundleSeeds();
std::vector<std::string> EventsSeeds();
std::vector<std::string> TensorSeeds();
std::vector<std::string> DeviceSeeds();
std::vector<std::string> CsvSeeds();
std::vector<std::string> ExampleSeeds();
std::vector<std::string> WireSeeds();

}  // namespace vigil::fuzz

#endif  // VIGIL_FUZZ_TARGETS_H_
