package devlog

import "strings"

// Phase is what a line of controller-runtime says of the reconcile that it names.
type Phase int

// The phases. All but the first two end a reconcile.
const (
	Within Phase = iota // nothing of its beginning or end
	Begun
	Succeeded
	Failed
	Requeued
	RequeuedAfter
)

// Phase returns the phase of a line. The texts are those of reconcileHandler in
// sigs.k8s.io/controller-runtime/pkg/internal/controller/controller.go since v0.16; before, only failures were logged.
func (l Line) Phase() Phase {
	switch {
	case l.Reconcile == "":
	case l.Message == "Reconciling":
		return Begun
	case l.Message == "Reconcile successful":
		return Succeeded
	case l.Message == "Reconciler error":
		return Failed
	case l.Message == "Reconcile done, requeueing":
		return Requeued
	case strings.HasPrefix(l.Message, "Reconcile done, requeueing after "):
		return RequeuedAfter
	}
	return Within
}
