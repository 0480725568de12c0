package test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// killsVariable says how many times TestAcknowledgedWritesSurviveKill kills.
	killsVariable = "SLIPWAY_KILLS"
	defaultKills  = 5

	writers          = 8
	objectsPerWriter = 12
	// A kill comes after this many acknowledged writes, give or take, while further ones are under way.
	leastWrites, mostWrites = 20, 400
)

// TestAcknowledgedWritesSurviveKill kills a durable cluster while several clients create, update and delete, and
// compares the store with what the clients were told, again and again on the same data. A write that got no answer may
// have happened or not; every other one must be there as it was acknowledged, resource version included.
//
// The kernel lives on when a process is killed, so this shows that nothing is acknowledged before it has left the
// process. That it has reached the disk as well, which matters when the machine goes, is shown by the tests of package
// etcd.
func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-kills")
	}
	config := newConfig(t)
	config.Durable = true
	ledger := newLedger()
	p := start(t, config)
	for range kills(t) {
		writeUntilKilled(t, p, ledger)
		p = start(t, config)
		ledger.compare(t, p.clients().CoreV1().ConfigMaps("default"))
		if t.Failed() {
			t.Fatalf("after kill %d", ledger.kills)
		}
	}
	t.Logf("%d kills, %d acknowledged and %d unanswered writes", ledger.kills, ledger.answered(), ledger.unanswered)
}

func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	if text == "" {
		return defaultKills
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a number of kills", killsVariable, text)
	}
	return n
}

// writeUntilKilled has all writers write at the same time and kills the program in the middle of it.
func writeUntilKilled(t *testing.T, p *program, l *ledger) {
	t.Helper()
	var left atomic.Int64
	left.Store(leastWrites + rand.Int64N(mostWrites-leastWrites))
	enough := make(chan struct{})
	var group sync.WaitGroup
	for _, w := range l.writers {
		maps := p.clients().CoreV1().ConfigMaps("default")
		group.Go(func() {
			if err := w.write(t.Context(), maps, func() {
				if left.Add(-1) == 0 {
					close(enough)
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-enough:
	case <-ended:
		t.Error("all writers ended before the program was killed")
	}
	kill(t, p)
	l.kills++
	<-ended
}

// A ledger is what the clients know of the store.
type ledger struct {
	writers    []*writer
	version    int64 // the highest that was acknowledged
	unanswered int
	kills      int
}

func newLedger() *ledger {
	l := &ledger{}
	for n := range writers {
		l.writers = append(l.writers, &writer{id: n, known: map[string]entry{}})
	}
	return l
}

// compare checks the store against the ledger, and then takes over what became of the writes that got no answer.
func (l *ledger) compare(t *testing.T, maps corev1client.ConfigMapInterface) {
	t.Helper()
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "ledger"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]entry{}
	for _, m := range list.Items {
		found[m.Name] = entryOf(&m)
	}
	for _, w := range l.writers {
		for n := range objectsPerWriter {
			name := w.name(n)
			if err := w.check(name, found[name]); err != nil {
				t.Error(err)
			}
			delete(found, name)
		}
		if w.pending {
			w.pending = false
			l.unanswered++
		}
		l.version = max(l.version, w.version)
	}
	for name := range found {
		t.Errorf("%s is there and nobody made it", name)
	}
	if now := number(list.ResourceVersion); now < l.version {
		t.Errorf("the store is at version %d, version %d was acknowledged", now, l.version)
	}
}

// answered is the number of writes that were acknowledged.
func (l *ledger) answered() (sum int) {
	for _, w := range l.writers {
		sum += w.answered
	}
	return sum
}

// An entry is the state of one object; the zero entry is that of none.
type entry struct{ version, value string }

func entryOf(m *corev1.ConfigMap) entry { return entry{m.ResourceVersion, m.Data["value"]} }

// A writer is a client with objects of its own. It knows their state, and one write at most that got no answer.
type writer struct {
	id       int
	sequence int
	known    map[string]entry
	version  int64 // the highest that was acknowledged
	answered int

	pending bool
	target  string // the object of the pending write
	outcome entry  // its state when the write happened; the version is not known
}

func (w *writer) name(n int) string { return fmt.Sprintf("ledger-%d-%d", w.id, n) }

// write goes on until a write gets no answer, and calls acknowledged after each that does. Its error is an
// answer that makes no sense.
func (w *writer) write(ctx context.Context, maps corev1client.ConfigMapInterface, acknowledged func()) error {
	for {
		w.sequence++
		w.target = w.name(rand.IntN(objectsPerWriter))
		now, err := w.change(ctx, maps, w.known[w.target])
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return fmt.Errorf("write %s: %w", w.target, err)
		}
		if err != nil {
			w.pending = true
			return nil
		}
		w.known[w.target] = now
		w.version = max(w.version, number(now.version))
		w.answered++
		acknowledged()
	}
}

// change makes the target when it does not exist; else it changes or, one time in three, deletes it.
func (w *writer) change(ctx context.Context, maps corev1client.ConfigMapInterface, before entry) (entry, error) {
	m := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: w.target, ResourceVersion: before.version, Labels: map[string]string{"ledger": ""}},
		Data:       map[string]string{"value": strconv.Itoa(w.sequence)},
	}
	w.outcome = entry{value: m.Data["value"]}
	switch {
	case before == entry{}:
		made, err := maps.Create(ctx, m, metav1.CreateOptions{})
		return entryOf(made), err
	case rand.IntN(3) == 0:
		w.outcome = entry{}
		return entry{}, maps.Delete(ctx, w.target, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &before.version}})
	default:
		updated, err := maps.Update(ctx, m, metav1.UpdateOptions{})
		return entryOf(updated), err
	}
}

// check compares the state of an object with what is known of it. When the pending write has happened, that is what is
// known now.
func (w *writer) check(name string, found entry) error {
	known := w.known[name]
	if found == known {
		return nil
	}
	if !w.pending || name != w.target {
		return fmt.Errorf("%s is %+v, but %+v was acknowledged", name, found, known)
	}
	newer := found == entry{} || number(found.version) > number(known.version)
	if !newer || found.value != w.outcome.value {
		return fmt.Errorf("%s is %+v; %+v was acknowledged, and %+v got no answer", name, found, known, w.outcome)
	}
	w.known[name] = found
	return nil
}

// number reads a resource version; that of no object is zero.
func number(version string) int64 {
	n, _ := strconv.ParseInt(version, 10, 64)
	return n
}
