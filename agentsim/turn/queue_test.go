package turn_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// gate is a model whose replies wait until they are let go.
type gate struct {
	arrived chan string // the request of each call
	release chan error  // what each call ends with
}

func newGate() *gate { return &gate{make(chan string), make(chan error)} }

func (g *gate) Reply(ctx context.Context, req turn.Request) (turn.Reply, error) {
	g.arrived <- req.Prompt()
	select {
	case err := <-g.release:
		return turn.Reply{Text: "ok"}, err
	case <-ctx.Done():
		return turn.Reply{}, ctx.Err()
	}
}

// start calls Run on a goroutine that reports to done when it ends.
func start(t *testing.T, a *turn.Agent, ctx context.Context, ask, conversation string, done chan<- string) {
	t.Helper()
	entered := make(chan struct{})
	go func() {
		close(entered)
		_, err := a.Run(ctx, ask, &turn.RunOptions{Conversation: conversation})
		done <- fmt.Sprintf("%s: %v", ask, err)
	}()
	<-entered
}

// Runs of one conversation never overlap, and all of them come to an end.
func TestConversationsAreQueued(t *testing.T) {
	var mu sync.Mutex
	running, most := map[string]int{}, map[string]int{}
	hooks := turn.Hooks{
		BeforeRun: func(_ context.Context, r turn.RunInfo) error {
			mu.Lock()
			defer mu.Unlock()
			running[r.Conversation]++
			most[r.Conversation] = max(most[r.Conversation], running[r.Conversation])
			return nil
		},
		OnFinish: func(_ context.Context, r turn.RunInfo, _ *turn.Outcome, _ error) error {
			mu.Lock()
			defer mu.Unlock()
			running[r.Conversation]--
			return nil
		},
	}
	a := newAgent(t, always("ok"), turn.Options{Hooks: []turn.Hooks{hooks}})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if _, err := a.Run(t.Context(), "hi", &turn.RunOptions{Conversation: []string{"", "a", "b"}[i%3]}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, conversation := range []string{"", "a", "b"} {
		if most[conversation] != 1 {
			t.Errorf("%d runs of %q overlapped", most[conversation], conversation)
		}
	}
}

// always is a model with one reply.
type always string

func (m always) Reply(context.Context, turn.Request) (turn.Reply, error) {
	return turn.Reply{Text: string(m)}, nil
}

func TestConversationsGoOnSideBySide(t *testing.T) {
	g := newGate()
	a := newAgent(t, g, turn.Options{})
	done := make(chan string, 3)
	for _, conversation := range []string{"", "a", "b"} {
		start(t, a, t.Context(), "ask "+conversation, conversation, done)
	}
	for range 3 { // all three are in the model at the same time
		<-g.arrived
	}
	for range 3 {
		g.release <- nil
	}
	for range 3 {
		<-done
	}
}

// A run that fails and one that gives up waiting do not stop those behind.
func TestFailedAndCancelledRunsLetTheNextIn(t *testing.T) {
	g := newGate()
	a := newAgent(t, g, turn.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string, 4)
	start(t, a, ctx, "first", "a", done)
	<-g.arrived // the first is in
	waiting, giveUp := context.WithCancel(t.Context())
	start(t, a, waiting, "second", "a", done)
	giveUp()
	if got := <-done; got != "second: the run was given up before it began: context canceled" {
		t.Errorf("the waiting run ended with %q", got)
	}
	start(t, a, t.Context(), "third", "a", done)
	cancel()
	if got := <-done; got != "first: the run was cancelled: context canceled" {
		t.Errorf("the first run ended with %q", got)
	}
	<-g.arrived
	g.release <- errors.New("broken")
	if got := <-done; got != "third: <nil>" { // model-error is an outcome
		t.Errorf("the third run ended with %q", got)
	}
	start(t, a, t.Context(), "fourth", "a", done)
	<-g.arrived
	g.release <- nil
	<-done
}

// The order of a queue is the order of the calls: each run is called only when
// the one before it is known to wait.
func TestQueueKeepsTheOrderOfCalls(t *testing.T) {
	var mu sync.Mutex
	var order []string
	hook := turn.Hooks{BeforeRun: func(_ context.Context, r turn.RunInfo) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, r.Ask)
		return nil
	}}
	g := newGate()
	a := newAgent(t, g, turn.Options{Hooks: []turn.Hooks{hook}})
	done := make(chan string, 3)
	start(t, a, t.Context(), "0", "a", done)
	<-g.arrived
	for i := 1; i < 3; i++ {
		start(t, a, t.Context(), fmt.Sprint(i), "a", done)
		for turn.Waiting(a, "a") < i {
			runtime.Gosched() // until the call has joined the queue
		}
	}
	g.release <- nil
	for range 2 {
		<-g.arrived
		g.release <- nil
	}
	for range 3 {
		<-done
	}
	if !slices.IsSorted(order) || len(order) != 3 {
		t.Errorf("the runs began as %v", order)
	}
}

// startAroundForget has one run at the model, forgets its conversation, and has a
// second run of that wait in the queue.
func startAroundForget(t *testing.T, a *turn.Agent, g *gate) (done chan string) {
	t.Helper()
	done = make(chan string, 2)
	start(t, a, t.Context(), "first", "a", done)
	<-g.arrived
	a.Forget("a")
	start(t, a, t.Context(), "second", "a", done)
	for turn.Waiting(a, "a") < 1 {
		runtime.Gosched()
	}
	return done
}

// What began anew also counts model errors anew: two of the runs after Forget do
// not leave it to the fallback.
func TestForgetCountsModelErrorsAnew(t *testing.T) {
	g := newGate()
	a := newAgent(t, g, turn.Options{Fallback: cloud})
	done := startAroundForget(t, a, g)
	g.release <- errors.New("broken")
	<-g.arrived // the second
	g.release <- errors.New("broken")
	<-done
	<-done
	start(t, a, t.Context(), "third", "a", done)
	<-g.arrived
	g.release <- errors.New("broken")
	<-done
	start(t, a, t.Context(), "fourth", "a", done)
	select {
	case <-g.arrived:
		g.release <- nil
		<-done
	case <-done:
		t.Error("after two model errors the device model is not asked any more")
	}
}

// Whoever gives up waiting, first in the queue or not, lets nobody in beside the
// run that is under way.
func TestGivingUpLetsNobodyIn(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	for leaver := range 2 {
		var q turn.Queue
		if err := q.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		var cancels [2]context.CancelFunc
		var done [2]chan error
		for i := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			cancels[i], done[i] = cancel, make(chan error)
			go func() { done[i] <- q.Enter(ctx) }()
			for q.Waiting() <= i {
				runtime.Gosched()
			}
		}
		cancels[leaver]()
		if err := <-done[leaver]; !errors.Is(err, context.Canceled) || q.Waiting() != 1 {
			t.Errorf("giving up gave %v, %d wait", err, q.Waiting())
		}
		if err := q.Enter(over); err == nil {
			t.Error("the queue is free while a run is under way")
		}
		q.Leave()
		if err := <-done[1-leaver]; err != nil {
			t.Errorf("the other one was not let in: %v", err)
		}
		cancels[1-leaver]()
	}
}

// A wait that ends at the very moment its turn comes passes the turn on: which
// of the two comes first differs, the queue must be free afterwards either way.
func TestTurnThatComesTooLateIsPassedOn(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	for range 200 {
		var q turn.Queue
		if err := q.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- q.Enter(ctx) }()
		for q.Waiting() < 1 {
			runtime.Gosched()
		}
		cancel()
		q.Leave()
		if err := <-done; err == nil {
			q.Leave()
		}
		if err := q.Enter(over); err != nil { // one that is busy would wait, and give up
			t.Fatal("nobody is in the queue, and it is busy")
		}
	}
}

// A conversation that is forgotten while runs are under way is still queued: the
// run that waited begins anew when the other has ended.
func TestForgetWhileARunIsUnderWay(t *testing.T) {
	made := 0
	g := newGate()
	a := newAgent(t, g, turn.Options{MemoryFor: func(context.Context, string, bool) (memory.Memory, error) {
		made++ // by one run at a time
		return &memory.InProcess{}, nil
	}})
	done := startAroundForget(t, a, g)
	g.release <- nil
	prompt := <-g.arrived
	g.release <- nil
	<-done
	<-done
	if made != 2 || strings.Contains(prompt, "first") {
		t.Errorf("%d memories were made, the second run was asked\n%s", made, prompt)
	}
	start(t, a, t.Context(), "third", "a", done)
	if prompt := <-g.arrived; made != 2 || !strings.Contains(prompt, "second") {
		t.Errorf("%d memories were made, the third run was asked\n%s", made, prompt)
	}
	g.release <- nil
	<-done
	a.Forget("a")
	a.Forget("nobody")
	if n := turn.Held(a); n != 0 {
		t.Errorf("%d conversations are held after they were forgotten", n)
	}
	start(t, a, t.Context(), "fourth", "a", done)
	if prompt := <-g.arrived; made != 3 || strings.Contains(prompt, "third") {
		t.Errorf("%d memories were made, the fourth run was asked\n%s", made, prompt)
	}
	g.release <- nil
	<-done
}
