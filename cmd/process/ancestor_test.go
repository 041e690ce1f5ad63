package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/process"
)

func TestAncestors(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		t.Skip("nothing is known of other processes here")
	}
	chain := process.Ancestors()
	if len(chain) == 0 || chain[0].PID != os.Getppid() || chain[0].Started == "" || len(chain[0].Args) == 0 || chain[0].Args[0] == "" {
		t.Fatalf("the parent is %d, and these are the ancestors: %+v", os.Getppid(), chain)
	}
	if !process.Alive(chain[0].PID, chain[0].Started) {
		t.Error("the parent is not alive")
	}
	if process.Alive(chain[0].PID, chain[0].Started+"0") {
		t.Error("another process that had the parent's PID before is alive")
	}
	if process.Alive(0, "") || process.Alive(-1, "") {
		t.Error("no process is alive")
	}
}

// TestEnded: one that has ended is not alive, whether its parent has asked how or not.
func TestEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs proc(5) to see a process that was not waited for")
	}
	child := exec.Command(filepath.Join("/bin", "sh"), "-c", "read line")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	started, ok := process.StartedOf(child.Process.Pid)
	if !ok || !process.Alive(child.Process.Pid, started) {
		t.Fatal("a child that waits is not alive")
	}
	_ = in.Close()
	if err := child.Wait(); err != nil {
		_ = err // it read no line
	}
	if process.Alive(child.Process.Pid, started) {
		t.Error("a child that has ended is alive")
	}
}
