package listeners

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errTaken = errors.New("taken")

// doors is a set whose places a test takes away.
type doors struct {
	*Set[string, int]
	taken map[string]bool
	said  []string // since the last call of expect
}

func newDoors() *doors {
	d := &doors{taken: map[string]bool{}}
	d.Set = NewSet(func(_ context.Context, at string, _ int) (func(), error) {
		if d.taken[at] {
			return nil, errTaken
		}
		d.said = append(d.said, "open "+at)
		return func() { d.said = append(d.said, "close "+at) }, nil
	}, func(at string, _ int, err error) { d.said = append(d.said, at+" is "+err.Error()) })
	return d
}

func (d *doors) expect(t *testing.T, all bool, want string, wanted map[string]int) {
	t.Helper()
	got := d.Keep(t.Context(), wanted)
	slices.Sort(d.said)
	if text := strings.Join(d.said, ", "); got != all || text != want {
		t.Errorf("%v: all is %t, %q; want %t, %q", slices.Sorted(maps.Keys(wanted)), got, text, all, want)
	}
	d.said = nil
}

// TestKeep: places are opened, closed and opened anew for another purpose; what cannot be opened is reported once,
// until it is open, or wanted for something else, or not wanted.
func TestKeep(t *testing.T) {
	d := newDoors()
	d.expect(t, true, "open a, open b", map[string]int{"a": 1, "b": 1})
	d.expect(t, true, "", map[string]int{"a": 1, "b": 1})
	d.expect(t, true, "close a, close b, open a", map[string]int{"a": 2})
	if purpose, wanted, err := d.At("a"); purpose != 2 || !wanted || err != nil || d.Len() != 1 {
		t.Error(purpose, wanted, err, d.Len())
	}
	d.taken["c"] = true
	d.expect(t, false, "c is taken", map[string]int{"a": 2, "c": 1})
	d.expect(t, false, "", map[string]int{"a": 2, "c": 1})
	if purpose, wanted, err := d.At("c"); purpose != 1 || !wanted || !errors.Is(err, errTaken) {
		t.Error(purpose, wanted, err)
	}
	d.expect(t, false, "c is taken", map[string]int{"a": 2, "c": 2})
	d.expect(t, true, "", map[string]int{"a": 2})
	if _, wanted, _ := d.At("c"); wanted || len(d.shut) != 0 {
		t.Error("what is not wanted any more is remembered")
	}
	d.expect(t, false, "c is taken", map[string]int{"a": 2, "c": 2})
	delete(d.taken, "c")
	d.expect(t, true, "open c", map[string]int{"a": 2, "c": 2})
	d.expect(t, true, "close a, close c", nil)
}

// TestKeepEnds: what ends opens nothing, and blames no place for it.
func TestKeepEnds(t *testing.T) {
	d := newDoors()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d.Keep(ctx, map[string]int{"a": 1}) || len(d.said) != 0 {
		t.Errorf("%q", d.said)
	}
}

// TestRun: objects are followed at the beginning, at a change, and again while something is left to do.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Watch()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Bool
		var called atomic.Int32
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Run(ctx, func() bool { called.Add(1); return done.Load() })
		}()
		expect := func(want int32) {
			t.Helper()
			synctest.Wait()
			if got := called.Load(); got != want {
				t.Fatalf("called %d times, want %d", got, want)
			}
		}
		expect(1)
		time.Sleep(retry)
		expect(2)
		done.Store(true)
		time.Sleep(retry)
		expect(3)
		time.Sleep(time.Hour)
		expect(3)
		c.notice()
		expect(4)
		cancel()
		<-ended
		expect(4)
	})
}
