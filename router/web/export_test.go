package web

// What the tests of the package see of its inside.
var (
	OwnPath = ownPath
	Moment  = moment
	Count   = count
	Short   = short
)
