package devloop

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

func TestRecordedLine(t *testing.T) {
	for text, want := range map[string]clusterctl.OperatorLine{
		`{"level":"error","ts":"2026-01-02T15:04:05Z","msg":"no","controller":"widget","namespace":"default","name":"a","reconcileID":"b1"}`: {
			Level: "error", Controller: "widget", Reconcile: "b1", Object: &protocol.RecordObject{Namespace: "default", Name: "a"}},
		"\x1b[31mplain": {},
	} {
		want.Text = text
		got := recordedLine(devlog.Parse(text), text, "")
		if got.At.IsZero() {
			t.Error("it has no time")
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(time.Time{})); diff != "" {
			t.Error(diff)
		}
	}
}
