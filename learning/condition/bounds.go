package condition

// MaxLength bounds a condition, in bytes: one that is longer is several.
const MaxLength = 1000

// Nodes bounds the parts of a condition.
const Nodes = 200
