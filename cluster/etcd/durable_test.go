package etcd_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// TestDurableSyncsEveryWrite counts etcd's own measurements of fsync on its log of writes: a write that is
// acknowledged by a durable server has reached the disk, and a throw-away server never waits for that.
func TestDurableSyncsEveryWrite(t *testing.T) {
	const writes = 20
	for _, durable := range []bool{true, false} {
		t.Run(fmt.Sprintf("durable %v", durable), func(t *testing.T) {
			s := start(t, t.TempDir(), durable)
			defer s.Stop()
			before := syncs(t)
			for n := range writes {
				if err := s.Write(t.Context(), []etcd.Pair{{Key: fmt.Append(nil, n)}}); err != nil {
					t.Fatal(err)
				}
			}
			switch did := syncs(t) - before; {
			case durable && did < writes:
				t.Errorf("%d calls of fsync for %d writes, one after the other", did, writes)
			case !durable && did != 0:
				t.Errorf("%d calls of fsync", did)
			}
		})
	}
}

// syncs is how often this process has called fsync on a log of writes.
func syncs(t *testing.T) uint64 {
	t.Helper()
	const name = "etcd_disk_wal_fsync_duration_seconds"
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	t.Fatalf("etcd has no metric %s", name)
	return 0
}
