//go:build unix

package embed_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// alive says whether there is a process, one that nobody reaped yet too.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestSRCH21_StoppedRunnerIsNoticed(t *testing.T) {
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Stall = time.Second })
	comesBack(t, r)
	h, _ := r.Hello()
	if err := syscall.Kill(h.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var err error
	embedtest.Eventually(t, "a call to fail", func() bool { // a signal takes a moment to stop all threads
		_, err = embedOne(t, r, "hello")
		return err != nil
	})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no sign of life") {
		t.Errorf("got %v", err)
	}
	comesBack(t, r)
	if alive(h.PID) {
		t.Error("the stopped process is still there")
	}
	if n := r.Status().Restarts; n < 1 {
		t.Errorf("%d restarts", n)
	}
}

// What the runner started does not outlive it, however it ends.
func TestSRCH21_NothingIsLeftBehind(t *testing.T) {
	for _, end := range []string{"close", "kill", "crash"} {
		log := filepath.Join(t.TempDir(), "log")
		r := fake(t, "good", func(o *embed.RunnerOptions) { o.Env = append(o.Env, fakeJournal+"="+log) })
		if _, err := embedOne(t, r, "spawn"); err != nil {
			t.Fatal(err)
		}
		var pid int
		for _, line := range lines(t, log) {
			fmt.Sscanf(line, "pid %d", &pid) //nolint:errcheck // other lines
		}
		if pid == 0 || !alive(pid) {
			t.Fatalf("it started nothing: %v", lines(t, log))
		}
		h, _ := r.Hello()
		switch end {
		case "close":
			r.Close()
		case "kill":
			syscall.Kill(h.PID, syscall.SIGKILL) //nolint:errcheck // looked at below
		case "crash":
			embedOne(t, r, "crash") //nolint:errcheck // it does
		}
		embedtest.Eventually(t, "the end of what it started, "+end, func() bool { return !alive(pid) || isZombie(pid) })
	}
}

// A parent that is killed takes its runner along, even one that hangs.
func TestSRCH21_RunnerDiesWithItsParent(t *testing.T) {
	for _, text := range []string{"hello", "hang"} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		parent := exec.Command(self, text)
		parent.Env = append(os.Environ(), fakeVariable+"=parent")
		out, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		if !alive(pid) {
			t.Fatal("there is no runner")
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		parent.Wait() //nolint:errcheck // it was killed
		embedtest.Eventually(t, "the end of the runner", func() bool { return !alive(pid) || isZombie(pid) })
	}
}

// isZombie tells an orphan that ended but that nobody reaps, as in a container
// without an init.
func isZombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

// fakeParent has a runner embed one text, says its process and waits to be
// killed.
func fakeParent() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r := embed.StartRunner(embed.RunnerOptions{Path: self, ModelFile: "none", Env: []string{fakeVariable + "=good"}, Stall: hangRunner})
	if _, err := r.Model(context.Background()); err != nil {
		return err
	}
	go r.Embed(context.Background(), embed.Passage, []string{os.Args[1]}) //nolint:errcheck // it may hang
	h, _ := r.Hello()
	fmt.Println(h.PID)
	select {}
}

// REL-11: the runner is killed or stopped at random points under load. No wrong
// vector ever comes back, calls fail at once or are served, and it is back each
// time.
func TestREL11_KilledAndStoppedUnderLoad(t *testing.T) {
	kills := campaign.Figure(10, 100)
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Stall = time.Second })
	tormentRunner(t, r, kills, fakeVector)
}

func TestREL11_NativeKilledAndStoppedUnderLoad(t *testing.T) {
	opt := native(t, tinyModel)
	opt.Stall = time.Second
	r := run(t, opt)
	want := map[string][]float32{}
	for i := range 50 {
		text := fmt.Sprintf("text %d", i)
		v, err := embedOne(t, r, text)
		if err != nil {
			t.Fatal(err)
		}
		want[text] = v
	}
	kills := campaign.Figure(5, 100)
	tormentRunner(t, r, kills, func(text string) []float32 { return want[text] })
}

// tormentRunner kills and stops a runner while others use it, and holds each
// vector against what it must be.
func tormentRunner(t *testing.T, r *embed.Runner, kills int, want func(text string) []float32) {
	t.Helper()
	var stop atomic.Bool
	var served, failed atomic.Int64
	var load sync.WaitGroup
	for worker := range 3 {
		load.Go(func() {
			purpose := embed.Passage
			if worker == 0 {
				purpose = embed.Query
			}
			for i := 0; !stop.Load(); i++ {
				texts := make([]string, 1+i%20)
				for j := range texts {
					texts[j] = fmt.Sprintf("text %d", (i*7+j)%50)
				}
				_, got, err := r.Embed(t.Context(), purpose, texts)
				if fault.KindOf(err) != fault.Unavailable && err != nil {
					t.Errorf("a call failed with %v", err)
				}
				if err != nil {
					failed.Add(1)
					<-time.After(time.Millisecond) // as one that tries again later
					continue
				}
				served.Add(1)
				for j, v := range got {
					if !nearVectors(v, want(texts[j])) {
						t.Errorf("%q has a wrong vector", texts[j])
						stop.Store(true)
					}
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(11, 11))
	var slowest time.Duration
	for i := range kills {
		embedtest.Eventually(t, "a call to be served", func() bool { return r.Status().State == embed.Ready || stop.Load() })
		<-time.After(time.Duration(rng.IntN(20)) * time.Millisecond) // the random point
		h, _ := r.Hello()
		signal := syscall.SIGKILL
		if i%4 == 3 { // those take as long as a stall takes to be noticed
			signal = syscall.SIGSTOP
		}
		began, before := time.Now(), served.Load()
		syscall.Kill(h.PID, signal) //nolint:errcheck // it may have ended
		embedtest.Eventually(t, "the next life to serve", func() bool {
			now, _ := r.Hello()
			return now.PID != h.PID && served.Load() > before || stop.Load()
		})
		slowest = max(slowest, time.Since(began))
	}
	stop.Store(true)
	load.Wait()
	if campaign.Full() && slowest > 2*time.Second {
		t.Errorf("back after %v, more than 2 s", slowest)
	}
	t.Logf("%d times killed or stopped: %d calls served, %d failed, back after %v at most", kills, served.Load(), failed.Load(), slowest)
}
