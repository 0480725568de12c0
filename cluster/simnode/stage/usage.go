package stage

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is how much of a resource a container uses while it runs. The zero value is the default: a tenth of what the
// container requests, or a little if it requests nothing.
type Amount struct {
	Percent int64 // of the container's request
	Milli   int64 // thousandths of the resource's unit, if Fixed
	Fixed   bool
}

// The names of the settings.
const (
	cpuUsage    = "cpu-usage"
	memoryUsage = "memory-usage"
)

// What a container uses by default.
const (
	idlePercent = 10
	idleCPU     = 1               // thousandths of a processor
	idleMemory  = 10 << 20 * 1000 // thousandths of a byte
)

// maxAmount bounds amounts, in units: the sums over thousands of pods still fit the thousandths that autoscalers count
// in.
const maxAmount = 1 << 40

// maxPercent bounds shares.
const maxPercent = 1000

// Usage is what a container of the pod uses while it runs, of CPU and memory.
func (p Plan) Usage(c *corev1.Container) corev1.ResourceList {
	o := p.Of(c.Name)
	cpu := o.CPU.of(c.Resources.Requests[corev1.ResourceCPU], idleCPU)
	const thousand = 1000
	memory := o.Memory.of(c.Resources.Requests[corev1.ResourceMemory], idleMemory) / thousand
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}
}

// of is the amount in thousandths, where idle is the default without a request.
func (a Amount) of(request resource.Quantity, idle int64) int64 {
	const whole, thousand = 100, 1000
	if a.Fixed {
		return a.Milli
	}
	if request.Sign() <= 0 {
		return idle
	}
	percent := a.Percent
	if percent == 0 {
		percent = idlePercent
	}
	requested := min(request.MilliValue(), maxAmount*thousand)
	return min(requested/whole*percent+requested%whole*percent/whole, maxAmount*thousand)
}

// amount makes a setting of a quantity, or of a share of what is requested.
func amount(field func(*Outcome) *Amount) func(*Outcome, string) error {
	return func(o *Outcome, value string) error {
		a, err := parseAmount(value)
		if err == nil {
			*field(o) = a
		}
		return err
	}
}

func parseAmount(value string) (Amount, error) {
	if share, ok := strings.CutSuffix(value, "%"); ok {
		percent, err := strconv.ParseUint(share, 10, 16)
		if err != nil || percent > maxPercent {
			return Amount{}, errValue
		}
		if percent == 0 {
			return Amount{Fixed: true}, nil
		}
		return Amount{Percent: int64(percent)}, nil
	}
	q, err := resource.ParseQuantity(value)
	if err != nil || q.Sign() < 0 || q.CmpInt64(maxAmount) > 0 {
		return Amount{}, errors.Join(errValue, err)
	}
	return Amount{Milli: q.MilliValue(), Fixed: true}, nil
}

// shareOf is the resource that a value is a share of; empty for other values and settings.
func (s setting) shareOf(value string) corev1.ResourceName {
	switch {
	case !strings.HasSuffix(value, "%"):
		return ""
	case s.name == cpuUsage:
		return corev1.ResourceCPU
	case s.name == memoryUsage:
		return corev1.ResourceMemory
	}
	return ""
}

// requests tells whether a container requests some of a resource.
func requests(pod *corev1.Pod, container string, of corev1.ResourceName) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers), func(c corev1.Container) bool {
		request := c.Resources.Requests[of]
		return c.Name == container && request.Sign() > 0
	})
}
