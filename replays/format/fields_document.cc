#include "vigil/replays/format/fields_document.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kHead =
    "# The fields of a scenario\n"
    "\n"
    "[The scenario format](scenario_format.md) says what a scenario is, with examples; here is every field that there "
    "is.\n"
    "This page is generated, from what reads, checks and prints them (`replays/format/describe_*.cc`):\n"
    "`./vigil rules --fields > docs/scenario_fields.md`\n"
    "\n"
    "`of`: which objects have the field; none = all. `default`: what a missing one means; none = nothing of the "
    "kind.\n";

// One row for each field.
class DocumentingWalk : public FieldWalk {
 public:
  void Visit(const FieldInfo& info, bool /*applies*/, const ValueType& type, void* /*value*/,
             const void* missing) override {
    const bool required = info.how != How::kOptional;
    rows_.push_back({std::string(info.name), std::string(info.of), type.Words(),
                     required ? "required" : DefaultOf(type, missing), std::string(info.text)});
  }
  void VisitArgs(const FieldInfo& info, bool /*applies*/, std::span<const ArgSpec> specs, Args& /*args*/) override {
    for (const ArgSpec& spec : specs) {
      rows_.push_back(
          {std::string(spec.name), std::string(info.of), WordsOf(spec), spec.required ? "required" : "", ""});
    }
  }

  std::string Table() const {
    const bool of = std::ranges::any_of(rows_, [](const Row& row) { return !row.of.empty(); });
    const std::string_view column = of ? " of |" : "";
    std::string table =
        fmt::format("| field |{} value | default | meaning |\n|---|{}---|---|---|\n", column, of ? "---|" : "");
    for (const Row& row : rows_) {
      table += fmt::format("| `{}` |{} {} | {} | {} |\n", row.name, of ? fmt::format(" {} |", row.of) : "", row.value,
                           row.missing, row.text);
    }
    return table;
  }

 private:
  struct Row {
    std::string name;
    std::string of;
    std::string value;
    std::string missing;
    std::string text;
  };

  // As it would be printed; an object or a list is described elsewhere.
  static std::string DefaultOf(const ValueType& type, const void* missing) {
    JsonWriter w;
    type.PrintAny(w, missing);
    const std::string& text = w.text();
    const bool nothing = text.empty() || text == "null" || text == "\"\"" || text == "[]" || text.starts_with('{');
    return nothing ? "" : fmt::format("`{}`", text);
  }

  std::vector<Row> rows_;
};

}  // namespace

std::string FieldsDocument() {
  std::vector<DocumentedObject> objects;
  AppendSessionObjects(objects);
  AppendHookObjects(objects);
  AppendStatementObjects(objects);
  AppendRunObjects(objects);
  AppendJobObjects(objects);
  AppendUnitObjects(objects);
  AppendExpectationObjects(objects);
  std::string document(kHead);
  for (const DocumentedObject& object : objects) {
    DocumentingWalk walk;
    object.walk(walk);
    document += fmt::format("\n## {}\n\n{}", object.title, walk.Table());
  }
  return document;
}

}  // namespace vigil::replays
