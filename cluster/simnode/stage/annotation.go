package stage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Domain is that of the annotations which say how a pod's containers behave. `slipway.dev/exit-code` speaks of all the
// pod's containers except init containers; `NAME.slipway.dev/exit-code` of the container NAME alone, of whatever
// kind, and wins.
const Domain = "slipway.dev"

// Problem is an annotation that is not followed.
type Problem struct {
	Annotation string // its key
	Value      string
	Expected   string // what would be right
}

// Error says what is wrong, what follows from it and what would be right.
func (p Problem) Error() string {
	return fmt.Sprintf("annotation %s=%.80q is ignored: expected %s", p.Annotation, p.Value, p.Expected)
}

// PlanFor is the default plan with the pod's annotations followed. Those that make no sense are left out and reported.
func PlanFor(pod *corev1.Pod) (Plan, []Problem) { return Habits{}.PlanFor(pod) }

// PlanFor is the plan of a pod in a cluster with these habits. Its annotations win.
func (h Habits) PlanFor(pod *corev1.Pod) (Plan, []Problem) {
	plan := h.plan(pod)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(pod.Annotations)), inDomain) {
		return plan, nil
	}
	var problems []Problem
	for _, s := range settings() {
		problems = append(problems, plan.follow(pod, Domain+"/"+s.name, s, ordinary(pod))...)
	}
	for _, name := range all(pod) {
		for _, s := range settings() {
			problems = append(problems, plan.follow(pod, name+"."+Domain+"/"+s.name, s, []string{name})...)
		}
	}
	return plan, append(problems, misspelt(pod)...)
}

// follow puts one annotation, if the pod has it, into the outcomes of containers. A share is followed by those that
// request something.
func (p Plan) follow(pod *corev1.Pod, key string, s setting, containers []string) []Problem {
	value, ok := pod.Annotations[key]
	if !ok {
		return nil
	}
	followed := false
	for _, name := range containers {
		o := p.Of(name)
		if err := s.put(&o, value); err != nil {
			return []Problem{{key, value, s.expected}}
		}
		if of := s.shareOf(value); of == "" || requests(pod, name, of) {
			p[name], followed = o, true
		}
	}
	if of := s.shareOf(value); of != "" && !followed {
		return []Problem{{key, value, fmt.Sprintf("a quantity, since no %s is requested by %s", of, strings.Join(containers, ", "))}}
	}
	return nil
}

// misspelt are the annotations of the domain that name no setting or no container.
func misspelt(pod *corev1.Pod) []Problem {
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
		if !inDomain(key) {
			continue
		}
		owner, name, _ := strings.Cut(key, "/")
		container := strings.TrimSuffix(strings.TrimSuffix(owner, Domain), ".")
		switch {
		case !slices.ContainsFunc(settings(), func(s setting) bool { return s.name == name }):
			problems = append(problems, Problem{key, pod.Annotations[key], "one of " + strings.Join(settingNames(), ", ") + " after the slash"})
		case container != "" && !slices.Contains(all(pod), container):
			problems = append(problems, Problem{key, pod.Annotations[key], "a container of the pod before ." + Domain + ": " + strings.Join(all(pod), ", ")})
		}
	}
	return problems
}

// inDomain tells whether an annotation is one of the domain.
func inDomain(key string) bool {
	owner, _, ok := strings.Cut(key, "/")
	return ok && (owner == Domain || strings.HasSuffix(owner, "."+Domain))
}

func ordinary(pod *corev1.Pod) []string {
	var names []string
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	return names
}

func all(pod *corev1.Pod) []string {
	names := ordinary(pod)
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	return names
}

var errValue = errors.New("not a value of this annotation")
