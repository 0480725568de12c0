package engine

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestImagesOf(t *testing.T) {
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers:      []corev1.Container{{Image: "init"}},
			Containers:          []corev1.Container{{Image: "main"}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: "debug"}}},
			Volumes:             []corev1.Volume{{}, {VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "volume"}}}},
		},
		Status: corev1.PodStatus{
			InitContainerStatuses:      []corev1.ContainerStatus{{ImageID: "init@1"}},
			ContainerStatuses:          []corev1.ContainerStatus{{ImageID: "main@2"}},
			EphemeralContainerStatuses: []corev1.ContainerStatus{{ImageID: "debug@3"}},
		},
	}
	got := imagesOf(pod)
	slices.Sort(got)
	if want := []string{"debug", "debug@3", "init", "init@1", "main", "main@2", "volume"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestImagesOfWorkloads: a workload without a pod has its images, and so has what is on another page of a list.
func TestImagesOfWorkloads(t *testing.T) {
	template := func(image string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}
	}
	ofController, ofCronJob := template("controller"), batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template("cronjob")}}
	lists := map[string][]runtime.Object{
		"pods":                   {&corev1.Pod{Spec: template("one").Spec}, &corev1.Pod{Spec: template("two").Spec}, &corev1.Pod{Spec: template("three").Spec}},
		"replicationcontrollers": {&corev1.ReplicationController{}, &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Template: &ofController}}},
		"deployments":            {&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template("deployment")}}},
		"replicasets":            {&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: template("replicaset")}}},
		"statefulsets":           {&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: template("statefulset")}}},
		"daemonsets":             {&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: template("daemonset")}}},
		"jobs":                   {&batchv1.Job{Spec: batchv1.JobSpec{Template: template("job")}}},
		"cronjobs":               {&batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: ofCronJob}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		items := lists[path.Base(r.URL.Path)]
		page, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		answer := struct {
			Metadata metav1.ListMeta  `json:"metadata"`
			Items    []runtime.Object `json:"items"`
		}{Items: items[page : page+1]}
		if page+1 < len(items) && r.URL.Query().Get("limit") != "" {
			answer.Metadata.Continue = strconv.Itoa(page + 1)
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	got, err := imagesIn(t.Context(), client)
	slices.Sort(got)
	want := []string{"controller", "cronjob", "daemonset", "deployment", "job", "one", "replicaset", "statefulset", "three", "two"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}
