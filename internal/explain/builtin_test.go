package explain

import (
	"strings"
	"testing"
	"time"
)

// TestOnHold: work that a user has stopped explains an object, is nothing that is wrong with it, and explains no owner.
func TestOnHold(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) string { return now.Add(-d).UTC().Format(time.RFC3339) }
	scaler := func(kind, reason string, since time.Duration) string {
		return "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, status: {conditions: [{type: " + kind + ", status: 'False', reason: " + reason + ", message: m, lastTransitionTime: '" + ago(since) + "'}]}}"
	}
	for name, test := range map[string]struct {
		object string
		depth  int
		state  State
		cause  string
		text   string
	}{
		"paused":           {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {paused: true}}", 0, Ready, "Paused", "it is paused"},
		"paused below":     {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {paused: true}}", 1, Ready, "", "it is paused"},
		"goes on":          {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {paused: false}}", 0, Ready, "", ""},
		"suspended":        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {suspend: true}}", 0, Ready, "Suspended", "no Job starts"},
		"of another group": {"{apiVersion: example.com/v1, kind: CronJob, metadata: {name: a}, spec: {suspend: true}}", 0, Ready, "", ""},
		"scales nothing":   {scaler("ScalingActive", "ScalingDisabled", time.Hour), 0, Ready, "ScalingDisabled", "m"},
		"no metrics":       {scaler("ScalingActive", "FailedGetResourceMetric", time.Hour), 0, NotReady, "FailedGetResourceMetric", "m"},
		"no metrics yet":   {scaler("ScalingActive", "FailedGetResourceMetric", time.Second), 0, InProgress, "", "m"},
		"no target":        {scaler("AbleToScale", "FailedGetScale", time.Hour), 0, NotReady, "FailedGetScale", "m"},
		"at its upper end": {scaler("ScalingLimited", "TooManyReplicas", time.Hour), 0, Ready, "", ""},
	} {
		m := &member{object: object(t, test.object), state: Ready, depth: test.depth}
		s := &scene{now: now}
		s.builtin(t.Context(), m)
		cause := ""
		if len(m.causes) > 0 {
			cause = m.causes[0].Reason
		}
		if m.state != test.state || cause != test.cause || !strings.Contains(m.text, test.text) || test.text == "" && m.text != "" {
			t.Errorf("%s: got %s, %q, %q", name, m.state, cause, m.text)
		}
	}
}
