// The text of a scenario as a tree of which parts can be taken away: what a shrinker tries.
//
// The edits know the format only where they must: what names a scenario stays, and the parser decides whether what is
// left still is one. So whatever the format can say can be shrunk, now and later.
//
//   absl::StatusOr<EditedText> text = EditedText::Of(PrintRecord(scenario));
//   for (const EditedText::List& list : text->Lists()) Try(text->Without(list, 0, list.size));
//
// Thread safety: data.
#ifndef VIGIL_REPLAYS_FORMAT_EDITS_H_
#define VIGIL_REPLAYS_FORMAT_EDITS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace vigil::replays {

class EditedText {
 public:
  // Errors: INVALID_ARGUMENT for what is no JSON object. REQUIRES elsewhere: places are those of this very text.
  static absl::StatusOr<EditedText> Of(std::string_view text);

  // A list, or the members of an object that may be absent.
  struct List {
    std::string place;  // JSON pointer
    std::size_t size = 0;
    bool members = false;  // of an object
    bool choices = false;  // of the schedule: "choices" or a list in it
  };
  // What is not empty: outer ones before those they contain, "choices" last.
  std::vector<List> Lists() const;
  EditedText Without(const List& list, std::size_t from, std::size_t count) const;

  // Statements with a body: loops, steps. The body's statements take its place; what a step function runs with hooks is
  // a run then.
  std::vector<std::string> Bodies() const;
  EditedText Unwrapped(const std::string& place) const;
  // ... or a plain run does.
  EditedText AsRun(const std::string& place) const;

  // Two entries of a list of which the first could do the work of both: faults at the same point, probes, runs that
  // follow one another.
  struct Twins {
    std::string list;  // its place
    std::size_t first = 0;
    std::size_t second = 0;  // goes
  };
  std::vector<Twins> Mergeable() const;
  EditedText Merged(const Twins& twins) const;

  // Numbers, and what may stand in their place: nearer to 0, best first. Those of "choices" are left alone.
  struct Number {
    std::string place;
    std::vector<double> smaller;
  };
  std::vector<Number> Numbers() const;
  EditedText With(const std::string& place, double value) const;

  std::string text() const;

 private:
  struct Tree;
  explicit EditedText(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}
  std::shared_ptr<const Tree> tree_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_EDITS_H_
