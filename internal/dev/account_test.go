package dev

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestKeepToken: a token is renewed when half of its life is over, and again soon if that fails.
func TestKeepToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, warned := time.Now(), 0
		var asked []time.Duration
		o := Options{Account: "a/b", Handler: report.HandlerFunc(func(report.Event) { warned++ })}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Minute)
		defer cancel()
		o.keep(ctx, start.Add(time.Hour), func(context.Context) (time.Time, error) {
			asked = append(asked, time.Since(start))
			if len(asked) == 2 {
				return time.Time{}, errors.New("no")
			}
			return time.Now().Add(time.Hour), nil
		})
		want := []time.Duration{30 * time.Minute, time.Hour, 75 * time.Minute}
		if len(asked) != len(want) || asked[0] != want[0] || asked[1] != want[1] || asked[2] != want[2] || warned != 1 {
			t.Errorf("asked after %v, warned %d times", asked, warned)
		}
	})
}
