package dev

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestSignsOfLife: the first comes after three seconds, others ever later, and none once it is stopped.
func TestSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		stop := signsOfLife(t.Context(), report.HandlerFunc(func(e report.Event) { got = append(got, e.(report.Note).Text) }), "testing")
		time.Sleep(20 * time.Second)
		stop()
		time.Sleep(time.Hour)
		if diff := cmp.Diff([]string{"testing (3s)", "testing (6s)", "testing (12s)"}, got); diff != "" {
			t.Error(diff)
		}
	})
}
