package condition

// node is a part of a condition that was read. String is its text as it was written.
type node interface{ String() string }

// span is the text of a node.
type span string

func (s span) String() string { return string(s) }

type (
	nilNode   struct{ span }
	eachNode  struct{ span } // #: each of the list that a loop runs over
	truthNode struct {
		span
		value bool
	}
	numberNode struct {
		span
		value float64
	}
	textNode struct {
		span
		value string
	}
	nameNode struct {
		span
		name string
	}
	memberNode struct {
		span
		of, member node
	}
	// callNode is a function of one value, or a lookup of one text.
	callNode struct {
		span
		name     string
		argument node
	}
	loopNode struct {
		span
		name       string
		over, each node
	}
	unaryNode struct {
		span
		operator string
		of       node
	}
	binaryNode struct {
		span
		operator    string
		left, right node
	}
	choiceNode struct {
		span
		cond, then, otherwise node
	}
	listNode struct {
		span
		nodes []node
	}
)
