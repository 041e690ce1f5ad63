package interlock

import (
	"slices"
	"strconv"
	"strings"
)

// Signal is the type of a datagram (the experience server, "InterLock Mesh").
type Signal uint16

// The signals that are heard.
const (
	Heartbeat          Signal = 0x00
	BuildCompleted     Signal = 0xB0
	ValidationApproved Signal = 0xC0
	ValidationRejected Signal = 0xC1
	VerificationResult Signal = 0xD0
	ClaimVerified      Signal = 0xD1
	ClaimRefuted       Signal = 0xD2
	LessonLearned      Signal = 0xE5
	OperationComplete  Signal = 0xFF
)

// The signals that are emitted.
const (
	ExperienceRecorded Signal = 0xF0
	PatternEmerged     Signal = 0xF1
	LessonExtracted    Signal = 0xF2
	LessonValidated    Signal = 0xF3
)

var names = map[Signal]string{
	Heartbeat: "HEARTBEAT", BuildCompleted: "BUILD_COMPLETED", ValidationApproved: "VALIDATION_APPROVED", ValidationRejected: "VALIDATION_REJECTED",
	VerificationResult: "VERIFICATION_RESULT", ClaimVerified: "CLAIM_VERIFIED", ClaimRefuted: "CLAIM_REFUTED", LessonLearned: "LESSON_LEARNED",
	OperationComplete: "OPERATION_COMPLETE", ExperienceRecorded: "EXPERIENCE_RECORDED", PatternEmerged: "PATTERN_EMERGED",
	LessonExtracted: "LESSON_EXTRACTED", LessonValidated: "LESSON_VALIDATED",
}

// Heard lists the signals that are listened to.
func Heard() []Signal {
	return []Signal{
		BuildCompleted, VerificationResult, ValidationApproved, ValidationRejected, OperationComplete,
		LessonLearned, ClaimVerified, ClaimRefuted, Heartbeat,
	}
}

// Emitted lists the signals that are sent.
func Emitted() []Signal {
	return []Signal{ExperienceRecorded, PatternEmerged, LessonExtracted, LessonValidated}
}

// String is the signal's name, such as BUILD_COMPLETED, or its number.
func (s Signal) String() string {
	if name, known := names[s]; known {
		return name
	}
	return "0x" + strings.ToUpper(strconv.FormatUint(uint64(s), 16))
}

// heard tells whether the signal is listened to.
func (s Signal) heard() bool { return slices.Contains(Heard(), s) }

// ParseSignal reads a signal's name, without regard to case.
func ParseSignal(name string) (Signal, bool) {
	for s, known := range names {
		if strings.EqualFold(name, known) {
			return s, true
		}
	}
	return 0, false
}

// listeners says whom the experience server tells of a signal, by the peer's name; nil is everybody.
var listeners = map[Signal][]string{
	ExperienceRecorded: {"consciousness"},
	PatternEmerged:     {"consciousness", "trinity"},
	LessonExtracted:    nil,
	LessonValidated:    {"consciousness"},
}
