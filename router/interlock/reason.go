package interlock

// Reason says why a datagram was refused. Each has a counter of its own.
type Reason string

// The reasons, in the order in which a datagram is looked at.
const (
	RefusedRate      Reason = "rate"             // its source, or its sender, sends too much
	RefusedShort     Reason = "short"            // shorter than a header
	RefusedOversize  Reason = "oversize"         // longer than MaxDatagram
	RefusedVersion   Reason = "version"          // of another protocol version
	RefusedLength    Reason = "length"           // shorter than its header says
	RefusedTrailing  Reason = "trailing"         // longer than its header says
	RefusedUTF8      Reason = "utf8"             // the payload is not UTF-8
	RefusedJSON      Reason = "json"             // the payload is no JSON object
	RefusedDuplicate Reason = "duplicate_member" // an object names a member twice
	RefusedDepth     Reason = "depth"            // nested deeper than MaxDepth, or with more than MaxValues values
	RefusedSender    Reason = "sender"           // no sender, or one that cannot be a name
	RefusedSignal    Reason = "signal"           // none that is listened to
	RefusedSelf      Reason = "self"             // it bears our own name
	RefusedUnknown   Reason = "unknown_sender"   // nobody that is to be heard
	RefusedSource    Reason = "source"           // from another address than the sender's
	RefusedUnsigned  Reason = "unsigned"         // the sender has a key, and there is no signature
	RefusedSignature Reason = "signature"        // not by the sender's key
	RefusedStale     Reason = "stale"            // outside of the replay window, or from before the start
	RefusedTumbler   Reason = "tumbler"          // the tumbler filters it
	RefusedReplay    Reason = "replay"           // it was heard already
	RefusedBusy      Reason = "busy"             // too many wait
	RefusedData      Reason = "data"             // a member that the signal needs is missing or not what it must be
	RefusedByRule    Reason = "rule"             // what it asks for is not there, or not allowed
	RefusedFailure   Reason = "failure"          // it could not be stored
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{
		RefusedRate, RefusedShort, RefusedOversize, RefusedVersion, RefusedLength, RefusedTrailing, RefusedUTF8, RefusedJSON,
		RefusedDuplicate, RefusedDepth, RefusedSender, RefusedSignal, RefusedSelf, RefusedUnknown, RefusedSource, RefusedUnsigned,
		RefusedSignature, RefusedStale, RefusedTumbler, RefusedReplay, RefusedBusy, RefusedData, RefusedByRule, RefusedFailure,
	}
}

// Error makes a Reason an error.
func (r Reason) Error() string { return "the datagram is refused: " + string(r) }
