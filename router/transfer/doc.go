// Package transfer takes what is remembered in and out of a router: records of every kind, one after the other, which
// Export gives and Import takes, and which is safe to make again. It owns the form of a Record; what is true of each kind is its
// service's to say.
package transfer
