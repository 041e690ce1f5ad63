package web

// What the tests of the package see of its inside.
var (
	Neutralise = neutralise
	OwnPath    = ownPath
	Moment     = moment
	Count      = count
	Short      = short
)
