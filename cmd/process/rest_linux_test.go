package process

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestSettle: the pages of the program go, and what is needed again comes back.
func TestSettle(t *testing.T) {
	resident := func() int {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip(err)
		}
		found := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
		if found == nil {
			t.Skip("this kernel does not tell")
		}
		n, _ := strconv.Atoi(string(found[1]))
		return n
	}
	before := resident()
	settle()
	if after := resident(); after > before*3/4 {
		t.Errorf("%d kB of files are resident, %d before", after, before)
	}
}
