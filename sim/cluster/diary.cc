#include "vigil/sim/cluster/diary.h"

#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil::sim {
namespace {

constexpr char kDiary[] = "/diary";
constexpr std::size_t kPiece = 200;
constexpr int kPiecesASync = 3;

// What stands there in each diary, however often it was cut off.
std::string TextAt(std::size_t offset, std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (offset + i) % 26);
  return text;
}

}  // namespace

std::shared_ptr<Diary> Diary::Start(const TrainerParts& parts) {
  if (parts.job.workload.diary == Duration::zero()) return nullptr;
  auto diary = std::make_shared<Diary>(parts);
  diary->task_ = parts.env.tasks->Spawn("diary", [diary] { diary->Write().IgnoreError(); });
  return diary;
}

Diary::Diary(const TrainerParts& parts)
    : parts_(parts), env_(parts.env), over_(*parts.env.tasks, "the end of a diary") {}

void Diary::End() {
  over_.Notify();
  task_->Join(kNever);
}

absl::Status Diary::Write() {
  std::size_t size = 0;
  VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(*env_.files, kDiary));
  if (there) {
    VIGIL_ASSIGN_OR_RETURN(const std::string found, ReadAll(*env_.files, kDiary));
    size = found.size();
    parts_.recorder.FoundDiary(size, found == TextAt(0, size));
  } else {
    parts_.recorder.FoundDiary(0, true);
  }
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, env_.files->Open(kDiary, OpenMode::kAppend));
  for (int pieces = 1; !over_.Wait(DeadlineAfter(env_, parts_.job.workload.diary)); ++pieces) {
    VIGIL_RETURN_IF_ERROR(file->Append(TextAt(size, kPiece)));
    size += kPiece;
    if (pieces % kPiecesASync != 0) continue;
    VIGIL_RETURN_IF_ERROR(file->Sync());
    parts_.recorder.SyncedDiary(size);
  }
  return file->Close();
}

}  // namespace vigil::sim
