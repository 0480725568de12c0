package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// turnMinutes is the variable that has TestRecordTurns write for so many minutes.
const turnMinutes = "SLIPWAY_RECORD_MINUTES"

// TestRecordTurns writes 50 times a second into a cluster whose record has 16 MiB: each turn of the record drops all
// that the one before had. Memory and the time of answers stay what they are after the first turn.
func TestRecordTurns(t *testing.T) {
	minutes, err := strconv.Atoi(os.Getenv(turnMinutes))
	if err != nil {
		t.Skip(turnMinutes + " has the number of minutes")
	}
	const objects, perSecond = 100, 50
	h, err := Start(t.Context(), Options{Dir: t.TempDir(), Logger: quiet, Progress: func(string, protocol.State) {}, Main: Spec{Name: "test", RecordBytes: 16 << 20}})
	must(t, err)
	defer h.Stop()
	w := newWrites(t, h.Main())
	for range objects {
		must(t, w.create())
	}
	record, err := h.Main().History()
	must(t, err)
	end := time.Now().Add(time.Duration(minutes) * time.Minute)
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	turns, turnedAt, slowest, n := 0, record.Last(), time.Duration(0), 0
	var first, most uint64 // of memory
	random, text := rand.NewChaCha8([32]byte{}), make([]byte, 300)
	for ; time.Now().Before(end); n++ {
		<-tick.C
		name := fmt.Sprint("turned-", n%objects)
		random.Read(text)
		patch := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q},"spec":{"text":"%x"}}`, name, text)
		force := true
		_, err := w.widgets.Patch(t.Context(), name, types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "turns", Force: &force})
		must(t, err)
		if n%(10*perSecond) != 0 {
			continue
		}
		for _, q := range []protocol.RecordQuery{
			{Object: &protocol.RecordObject{Group: "example.com", Resource: "widgets", Namespace: "default", Name: name}},
			{Object: &protocol.RecordObject{Group: "example.com", Resource: "widgets", Namespace: "default", Name: name}, Field: ".spec.text"}, {}, {Refused: true},
		} {
			began := time.Now()
			record.Read(q)
			slowest = max(slowest, time.Since(began))
		}
		if oldest := record.Read(protocol.RecordQuery{After: new(uint64), Kinds: []string{protocol.RecordWrite}, Limit: 1}); len(oldest.Entries) > 0 && oldest.Entries[0].Seq > turnedAt {
			turns, turnedAt = turns+1, record.Last()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if most = max(most, m.HeapAlloc); first == 0 {
				first = m.HeapAlloc
			}
			t.Logf("turn %d after %d writes: %d entries, heap %d MiB, slowest answer %v", turns, n, record.Last(), m.HeapAlloc>>20, slowest)
		}
	}
	status := record.Status()
	t.Logf("%d writes, %d turns, %+v", n, turns, status)
	if status.Missed > 0 || status.Bytes > 16<<20 {
		t.Errorf("the record is %+v", status)
	}
	if minutes >= 30 && (turns < 5 || most > first+first/5) {
		t.Errorf("%d turns, memory grew from %d to %d bytes", turns, first, most)
	}
}
