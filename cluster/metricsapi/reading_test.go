package metricsapi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// recorded is a reading of what a kubelet has answered.
func recorded(t testing.TB, file string) reading {
	t.Helper()
	answer, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, string(answer))
}

func parsed(t testing.TB, answer string) reading {
	t.Helper()
	r, err := parse(strings.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	r.at = r.node.at
	return r
}

// TestRecordedAnswers: two answers of a kubelet, 3.7 seconds apart, give what its node and its containers used between
// them. One container had used 0.62 seconds, the other one nothing.
func TestRecordedAnswers(t *testing.T) {
	h := history{recorded(t, "earlier.txt"), recorded(t, "later.txt")}
	node, ok := h.node()
	if !ok || used(node.Usage) != "172879524n 95481856" || node.Window.Duration != 3702*time.Millisecond {
		t.Errorf("node: %v %s in %s", ok, used(node.Usage), node.Window.Duration)
	}
	pod, ok := h.pod("default", "burn")
	if !ok || len(pod.Containers) != 2 {
		t.Fatalf("pod: %v %+v", ok, pod)
	}
	for i, want := range []string{"burn 167550846n 1433600", "idle 0 868352"} {
		c := pod.Containers[i]
		if got := c.Name + " " + used(c.Usage); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if at := pod.Timestamp.Time; at.UnixMilli() != 1795555276411 {
		t.Errorf("measured at %s", at)
	}
	if _, ok := h.pod("default", "other"); ok {
		t.Error("a pod that the kubelet does not know has figures")
	}
}

func used(l corev1.ResourceList) string {
	return fmt.Sprintf("%s %d", l.Cpu(), l.Memory().Value())
}

// at is a reading, at a second, of a container that started at another one; negative CPU time leaves the metric out.
func at(t *testing.T, second, start, cpu float64) reading {
	t.Helper()
	const labels = `{container="c",namespace="n",pod="p"}`
	answer := fmt.Sprintf("container_memory_working_set_bytes%s 1024\ncontainer_start_time_seconds%[1]s %f\n", labels, start)
	if cpu >= 0 {
		answer += fmt.Sprintf("container_cpu_usage_seconds_total%s %f %d\n", labels, cpu, int64(second*1000))
	}
	r, err := parse(strings.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	r.at = time.UnixMilli(int64(second * 1000))
	return r
}

// TestRates: which readings a rate is computed from, and when there is none.
func TestRates(t *testing.T) {
	for name, test := range map[string]struct {
		history history
		want    string // "" for none
		window  time.Duration
	}{
		"one reading of an old container": {history: history{at(t, 2000, 1000, 10)}},
		"one reading of a young container: since its start": {
			history: history{at(t, 1010, 1000, 5)}, want: "500m", window: 10 * time.Second,
		},
		"a container that has just started": {history: history{at(t, 1000.5, 1000, 0.5)}},
		"two readings": {
			history: history{at(t, 2000, 1000, 10), at(t, 2002, 1000, 11)}, want: "500m", window: 2 * time.Second,
		},
		"two readings that are too close": {history: history{at(t, 2000, 1000, 10), at(t, 2000.5, 1000, 11)}},
		"many readings: the youngest that is four seconds old": {
			history: history{at(t, 1990, 1000, 0), at(t, 1996, 1000, 10), at(t, 1998, 1000, 10), at(t, 2000, 1000, 12)},
			want:    "500m", window: 4 * time.Second,
		},
		"a restart: since the start": {
			history: history{at(t, 2000, 1000, 10), at(t, 2004, 2002, 1)}, want: "500m", window: 2 * time.Second,
		},
		"time that goes back":  {history: history{at(t, 2000, 1000, 10), at(t, 2002, 1000, 9)}},
		"no CPU time":          {history: history{at(t, 2000, 1000, 10), at(t, 2002, 1000, -1)}},
		"not a number":         {history: history{at(t, 2000, 1000, 10), parsedAt(t, "NaN")}},
		"less than nothing":    {history: history{at(t, 2000, 1000, 10), parsedAt(t, "-5")}},
		"more than can be":     {history: history{at(t, 2000, 1000, 10), parsedAt(t, "1e300")}},
		"a number without end": {history: history{at(t, 2000, 1000, 10), parsedAt(t, "+Inf")}},
		"as much as can be":    {history: history{at(t, 2000, 1000, 0), parsedAt(t, "1e15")}, want: "1M", window: 2 * time.Second},
		"no readings":          {},
		"an idle container":    {history: history{at(t, 2000, 1000, 10), at(t, 2002, 1000, 10)}, want: "0", window: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			pod, ok := test.history.pod("n", "p")
			if ok != (test.want != "") {
				t.Fatalf("%v: %+v", ok, pod)
			}
			if !ok {
				return
			}
			if got := pod.Containers[0].Usage.Cpu().String(); got != test.want || pod.Window.Duration != test.window {
				t.Errorf("%s in %s, want %s in %s", got, pod.Window.Duration, test.want, test.window)
			}
		})
	}
}

// parsedAt is a reading at second 2002 with any CPU time.
func parsedAt(t *testing.T, cpu string) reading {
	t.Helper()
	r := at(t, 2002, 1000, -1)
	more := parsed(t, "container_cpu_usage_seconds_total{container=\"c\",namespace=\"n\",pod=\"p\"} "+cpu+" 2002000\n")
	pod := types.NamespacedName{Namespace: "n", Name: "p"}
	p := r.pods[pod]["c"]
	p.cpu, p.at = more.pods[pod]["c"].cpu, more.pods[pod]["c"].at
	r.pods[pod]["c"] = p
	return r
}

// TestOldReadingsAreForgotten after half a minute.
func TestOldReadingsAreForgotten(t *testing.T) {
	var h history
	for _, second := range []float64{1000, 1010, 1040} {
		h = h.with(at(t, second, 900, 1))
	}
	if len(h) != 2 || h[0].at != time.Unix(1010, 0) {
		t.Errorf("%d readings are left", len(h))
	}
}

// FuzzParse: whatever a node answers, there is an error or there are figures that can be added up.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"earlier.txt", "later.txt"} {
		answer, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(answer)
	}
	f.Add([]byte("node_cpu_usage_seconds_total 1e308 9223372036854775807\nnode_memory_working_set_bytes 1\n"))
	earlier := recorded(f, "earlier.txt")
	f.Fuzz(func(t *testing.T, answer []byte) {
		r, err := parse(bytes.NewReader(answer))
		if err != nil {
			return
		}
		for _, h := range []history{{r}, {earlier, r}, {r, earlier}} {
			if m, ok := h.node(); ok {
				countable(t, m.Usage)
			}
			for pod := range r.pods {
				m, _ := h.pod(pod.Namespace, pod.Name)
				for _, c := range m.Containers {
					countable(t, c.Usage)
				}
			}
		}
	})
}

func countable(t *testing.T, usage corev1.ResourceList) {
	t.Helper()
	for name, q := range usage {
		if milli := q.MilliValue(); milli < 0 || milli > 1e18 {
			t.Errorf("%s: %s", name, q.String())
		}
	}
}
