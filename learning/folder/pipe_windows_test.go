package folder_test

import "testing"

func pipe(*testing.T, string) {}
