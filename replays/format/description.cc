#include "vigil/replays/format/description.h"

#include "vigil/replays/format/value_types.h"

namespace vigil::replays {

void ReadingWalk::Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value,
                        const void* /*missing*/) {
  if (!applies) {
    if (info.listed) fields_.Optional(info.name);
    return;
  }
  const Field field = info.how == How::kDeciding   ? fields_.Deciding(info.name)
                      : info.how == How::kRequired ? fields_.Required(info.name)
                                                   : fields_.Optional(info.name);
  if (field.present()) type.ReadAny(field, value);
}

void ReadingWalk::VisitArgs(const FieldInfo& /*info*/, bool applies, std::span<const ArgSpec> specs, Args& args) {
  if (applies) ReadArgs(fields_, specs, args);
}

void PrintingWalk::Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value, const void* missing) {
  if (!applies || info.turn != turn_) return;
  const bool printed = info.how != How::kOptional || info.shown || !type.MissingAny(value, missing);
  if (printed) type.PrintAny(w_.Key(info.name), value);
}

void PrintingWalk::VisitArgs(const FieldInfo& info, bool applies, std::span<const ArgSpec> /*specs*/, Args& args) {
  if (applies && info.turn == turn_) PrintArgs(w_, args);
}

void EmptinessWalk::Visit(const FieldInfo& info, bool applies, const ValueType& type, void* value,
                          const void* missing) {
  if (!applies || !empty_) return;
  empty_ = info.how == How::kOptional && !info.shown && type.MissingAny(value, missing);
}

void EmptinessWalk::VisitArgs(const FieldInfo& /*info*/, bool applies, std::span<const ArgSpec> /*specs*/, Args& args) {
  if (applies && !args.empty()) empty_ = false;
}

bool HasMember(const Json& object, std::string_view name) {
  if (object.kind() != JsonKind::kObject) return false;
  for (const Json member : object) {
    if (member.key() == name) return true;
  }
  return false;
}

}  // namespace vigil::replays
