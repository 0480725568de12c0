// Package devscreen is the screen of `slipway dev`: a log, and below it a block with a line for each part of the loop
// and one with the keys. [Run] has it up while the loop works:
//
//	err := devscreen.Run(ctx, devscreen.Options{Input: os.Stdin, Output: os.Stdout, Commands: commands}, loop)
//
// The loop reports to the handler that it is given, and receives what its user asks for from the channel of commands.
// The screen itself does nothing but show.
//
// The log is printed above the block and scrolls away as that of any other program: there is no alternate screen, so
// that the terminal keeps the history, which can be searched and copied. Nothing else may write to the terminal until
// Run returns. Then the terminal is as it was before, also after a signal or a panic of the loop or of the screen. Only
// a panic on a goroutine that the loop has started ends the process at once.
//
// The screen is drawn by bubbletea (https://github.com/charmbracelet/bubbletea).
package devscreen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Command is what a user asks the loop for with a key.
type Command string

// The commands.
const (
	Restart      Command = "restart"
	ApplySamples Command = "apply samples"
	RunTests     Command = "run tests"
	Debug        Command = "debug"
	LogLevel     Command = "log level"
	AddMarker    Command = "add marker"
	Pause        Command = "pause deployed"
	Page         Command = "page"
)

// Options say what a screen is drawn on and what its user can ask for.
type Options struct {
	Input   *os.File // a terminal
	Output  *os.File // a terminal
	Environ []string // TERM and what else describes the terminal
	Color   bool     // whether colours are wanted, and understood

	Commands  chan<- Command // receives commands; one that it has no room for is dropped
	Available []Command      // those whose keys are shown and heard

	Module string // the path of the user's module, whose frames are shown of stack traces
	Dir    string // its folder, without which names of files in stack traces are shown
}

var (
	// ErrQuit is the cause of the context's end when the user asked to quit, by q, Ctrl-C or a signal.
	ErrQuit = errors.New("the user quit")
	// ErrKilled is returned when the user asked a second time, and work was left behind.
	ErrKilled = errors.New("the user did not wait for the dev loop to end")
)

// patience is how long the terminal may take to be restored after the user asked to end at once: a terminal that reads
// nothing takes forever.
const patience = time.Second

// Run shows what work reports until work returns, and returns its error. When the user asks to quit, the context of
// work ends with the cause [ErrQuit]. When the user presses Ctrl-C a second time, or a second signal comes, Run returns
// [ErrKilled] and leaves work behind. When the screen fails, such as when its terminal is closed, the context of work
// ends, and Run returns both errors once work has returned.
func Run(ctx context.Context, o Options, work func(context.Context, report.Handler) error) error {
	return run(ctx, o, work, time.Now)
}

// run is Run with a clock.
func run(ctx context.Context, o Options, work func(context.Context, report.Handler) error, now func() time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer ending.Await(ctx, "slipway dev")() // the terminal is to be restored
	s := newScreen(o, cancel, now)
	defer s.watchSignals()()
	defer context.AfterFunc(ctx, func() { s.program.Send(quittingMsg{}) })()

	go s.draw()
	go s.print()
	worked, ended := begin(ctx, s.feed, work), s.ended
	for {
		select {
		case end := <-worked:
			s.feed.close() // what is left is printed, then the program quits
			failure := s.restored()
			end.rethrow()
			return errors.Join(end.err, failure)
		case <-ended:
			ended = nil
			s.feed.end()
			cancel(s.failure)
		case <-s.killed:
			_ = s.restored()
			return ErrKilled
		}
	}
}

// outcome is how work has ended.
type outcome struct {
	err   error
	panic any // nil unless it panicked
	stack []byte
}

// begin starts work.
func begin(ctx context.Context, h report.Handler, work func(context.Context, report.Handler) error) <-chan outcome {
	worked := make(chan outcome, 1)
	go func() {
		var end outcome
		defer func() {
			if end.panic = recover(); end.panic != nil {
				end.stack = debug.Stack()
			}
			worked <- end
		}()
		end.err = work(ctx, h)
	}()
	return worked
}

// rethrow panics as work did.
func (o outcome) rethrow() {
	if o.panic != nil {
		panic(fmt.Sprintf("%v\n\n%s", o.panic, o.stack))
	}
}

// screen is what the goroutines of a Run share.
type screen struct {
	program *tea.Program
	model   *model // of the program's goroutine alone
	feed    *feed
	input   *os.File
	output  *output
	stops   *stops

	stop    context.CancelFunc // ends the program at once
	ended   chan struct{}      // closed when the program has ended
	failure error              // why the program ended, once it has
	printed chan struct{}      // closed when the printing goroutine has ended
	killed  chan struct{}      // closed when the user has asked for an end a second time
	cancel  context.CancelCauseFunc

	mu    sync.Mutex
	asked int // how often the user has asked for an end
}

// frames is the largest number of redraws in a second.
const frames = 20

func newScreen(o Options, cancel context.CancelCauseFunc, now func() time.Time) *screen {
	ctx, stop := context.WithCancel(context.Background())
	s := &screen{
		feed: newFeed(o), input: o.Input, output: &output{file: o.Output, marked: make(chan struct{}, 1), stop: stop},
		stop: stop, ended: make(chan struct{}), printed: make(chan struct{}), killed: make(chan struct{}), cancel: cancel,
	}
	s.model = newModel(o, s, now)
	s.program = tea.NewProgram(s.model, tea.WithContext(ctx), tea.WithInput(o.Input), tea.WithOutput(s.output),
		tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(), tea.WithFPS(frames), tea.WithFilter(filterMessages))
	s.stops = newStops(s.program)
	return s
}

// draw runs the program until it ends.
func (s *screen) draw() {
	defer close(s.ended)
	defer s.stop()
	_, err := s.program.Run()
	if errors.Is(err, context.Canceled) {
		err = nil // it was stopped
	}
	if err = errors.Join(err, s.output.failure()); err != nil {
		s.failure = fmt.Errorf("the screen failed: %w", err)
	}
}

// ask is called when the user asks for an end: the first time in order, and after that at once.
func (s *screen) ask() {
	s.mu.Lock()
	s.asked++
	asked := s.asked
	s.mu.Unlock()
	switch asked {
	case 1:
		s.cancel(ErrQuit)
	case 2:
		close(s.killed)
	}
}

// askOnce is ask for what is no sign of impatience when it comes again.
func (s *screen) askOnce() {
	s.mu.Lock()
	asked := s.asked > 0
	s.mu.Unlock()
	if !asked {
		s.ask()
	}
}

// restored waits until all is printed and the terminal is restored, or, once the user does not wait for it, ends the
// program at once. It returns why the screen failed, if it did.
func (s *screen) restored() error {
	select {
	case <-s.ended:
		<-s.printed
		return s.failure
	case <-s.killed:
	}
	s.feed.end()
	s.stop()
	select {
	case <-s.ended:
		return s.failure
	case <-time.After(patience):
		return nil
	}
}
