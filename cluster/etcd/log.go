package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logTo makes etcd log warnings and worse to a logger, and tell when it gives up.
// What it returns knows the last error that was logged.
func logTo(c *embed.Config, to *slog.Logger, end *giveUp) *lastError {
	last := &lastError{}
	log := zap.New(core{to: to, level: zapcore.WarnLevel, last: last}, zap.WithFatalHook(end), zap.WithPanicHook(end))
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(log)
	return last
}

// decided are the beginnings of warnings about what is meant to be so: there is one member, with
// no port of its own, and nobody to be authenticated.
var decided = []string{
	"Running http and grpc server on single port",
	"it isn't recommended to use default name",
	"simple token is not cryptographically signed",
}

// lastError is the error that was logged last.
type lastError struct{ value atomic.Pointer[error] }

func (l *lastError) set(err error) { l.value.Store(&err) }

// get returns nil when none was logged.
func (l *lastError) get() error {
	if err := l.value.Load(); err != nil {
		return *err
	}
	return nil
}

// core hands zap's entries to slog.
type core struct {
	to    *slog.Logger
	level zapcore.Level
	known []zapcore.Field
	last  *lastError
}

func (c core) Enabled(level zapcore.Level) bool { return level >= c.level }

func (c core) With(fields []zapcore.Field) zapcore.Core {
	c.known = append(c.known[:len(c.known):len(c.known)], fields...)
	return c
}

func (c core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	meant := func(begin string) bool { return strings.HasPrefix(entry.Message, begin) }
	if !c.Enabled(entry.Level) || slices.ContainsFunc(decided, meant) {
		return checked
	}
	return checked.AddCore(entry, c)
}

func (c core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	level := slog.LevelError
	if entry.Level == zapcore.WarnLevel {
		level = slog.LevelWarn
	} else {
		c.last.set(cause(entry.Message, fields))
	}
	c.to.LogAttrs(context.Background(), level, entry.Message, append(attrs(c.known), attrs(fields)...)...)
	return nil
}

func (core) Sync() error { return nil }

func attrs(fields []zapcore.Field) []slog.Attr {
	all := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		values := zapcore.NewMapObjectEncoder()
		f.AddTo(values) // nothing, if there is nothing to say
		for key, value := range values.Fields {
			all = append(all, slog.Any(key, value))
		}
	}
	return all
}

// giveUp is what happens instead of the end of the process, or of a panic that nobody recovers, when etcd
// cannot go on: most often because it cannot read its data, or cannot write.
type giveUp struct {
	starting chan error  // gets the first error until it has started
	fatal    func(error) // gets those afterwards

	mu      sync.Mutex
	started bool
}

func newGiveUp(fatal func(error)) *giveUp {
	return &giveUp{starting: make(chan error, 1), fatal: fatal}
}

// OnWrite ends the goroutine that logged the entry: etcd counts on not returning.
func (g *giveUp) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if err := cause(entry.Message, fields); !g.hold(err) && g.fatal != nil {
		g.fatal(err)
	}
	runtime.Goexit()
}

// hold keeps an error for who waits for the start, if somebody does.
func (g *giveUp) hold(err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.started {
		return false
	}
	select {
	case g.starting <- err:
	default: // the first is the reason
	}
	return true
}

// start ends the start, and returns what has been held by then.
func (g *giveUp) start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started = true
	select {
	case err := <-g.starting:
		return err
	default:
		return nil
	}
}

func cause(message string, fields []zapcore.Field) error {
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok {
			return fmt.Errorf("%s: %w", message, err)
		}
	}
	return errors.New(message)
}
