package stream

// What the tests of frames look at.
var (
	AnswerFrame = answerFrame
	EncodeFrame = encodeFrame
	FeedQueryOf = feedQueryOf
)
