package books_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// kill runs this test in a process of its own over data, until it says that half of the book is written, and
// kills it.
func kill(t *testing.T, data string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestREL1_AKillAmidABook$", "-test.v")
	child.Env = append(os.Environ(), asChild+"="+data)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "half of it") {
			must(t, child.Process.Kill())
			_ = child.Wait() // it was killed
			return
		}
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	t.Fatal("the process ended before half of the book was written")
}
