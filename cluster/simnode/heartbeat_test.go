package simnode

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestHeartbeatKeepsTransitionsAndForeignConditions(t *testing.T) {
	then := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := then.Add(time.Hour)
	old := append([]corev1.NodeCondition{{Type: "example.com/Mine", Status: corev1.ConditionTrue}}, conditions(then)...)
	old[4].Status = corev1.ConditionUnknown // Ready, as a lost node's is

	got := refreshed(old, conditions(now))
	if len(got) != len(old) || got[0] != old[0] {
		t.Fatalf("conditions: %v", got)
	}
	for _, c := range got[1:] {
		transition := then
		if c.Type == corev1.NodeReady {
			transition = now
		}
		if !c.LastHeartbeatTime.Time.Equal(now) || !c.LastTransitionTime.Time.Equal(transition) {
			t.Errorf("%s: heartbeat %s, transition %s", c.Type, c.LastHeartbeatTime, c.LastTransitionTime)
		}
	}
	if fresh := refreshed(nil, conditions(now)); len(fresh) != 4 {
		t.Errorf("from nothing: %v", fresh)
	}
}
