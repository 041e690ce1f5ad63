package learning

// Repair is one thing that a search tried after it had found nothing.
type Repair struct {
	Step   string `json:"step"`   // see the steps
	Detail string `json:"detail"` // what was tried, for a person
	Found  int    `json:"found"`  // how many fit then, at most MaxLimit
}
