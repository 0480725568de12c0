// Package stage says what becomes of a pod: given the pod, the status its node knows, a plan of how its
// containers behave, and the time, [Next] computes the status that a kubelet would report and when to look again.
//
// It is a pure function over values. It does not read a clock, call an API server or remember anything: the same input
// gives the same stage, so a pod's whole life can be reported in a table, and a node that starts again goes on from the
// status that the API server shows.
//
//	plan, problems := stage.PlanFor(pod)
//	step := stage.Next(stage.Input{Pod: pod, Status: pod.Status, Plan: plan, Host: host, Now: now})
//	// step.Status is to be reported, step.Wake is when to call Next again, step.Remove that the pod may go
//
// A pod's stages follow from its containers' states, and those from an [Outcome] for each container: how long it takes
// to start, to become ready and to end, and with which exit code. A new kind of behaviour is a new outcome, not a new
// stage.
//
// Users choose outcomes by annotations on the pod, which [PlanFor] reads. A pod's plan may change while it lives: what
// has happened stays, what is still to come follows the new plan.
//
// Restarts, back-off, init containers and sidecars, readiness gates, active deadlines and termination follow the
// rules of the kubelet (Kubernetes documentation: "Pod Lifecycle"), with its reasons and messages.
package stage
