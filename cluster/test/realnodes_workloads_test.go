package test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func (c *realCluster) mainStatus(p *corev1.Pod) corev1.ContainerStatus {
	if len(p.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return p.Status.ContainerStatuses[0]
}

// testRestarts: a container that ends is started again, soon, and its last log is there; unless the pod says otherwise.
func testRestarts(t *testing.T, c *realCluster) {
	begin := time.Now()
	c.create(c.pod("crashes", "exit", "3"))
	c.await("crashes", func(p *corev1.Pod) bool {
		s := c.mainStatus(p)
		return s.State.Terminated != nil || s.RestartCount > 0
	})
	once := time.Since(begin)
	p := c.await("crashes", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount >= 3 })
	// The stock pauses alone take longer than 25 seconds.
	if took, bar := time.Since(begin), beside(25*time.Second, once); took > bar {
		t.Errorf("three restarts took %s, longer than %s", took, bar)
	}
	if last := c.mainStatus(p).LastTerminationState.Terminated; last == nil || last.ExitCode != 3 || last.Reason != "Error" {
		t.Errorf("the last end was %+v", last)
	}
	c.await("crashes", func(p *corev1.Pod) bool {
		w := c.mainStatus(p).State.Waiting
		return w != nil && w.Reason == "CrashLoopBackOff"
	})
	// The one before last is removed when there is another one, at any moment.
	eventually(t, "the last log is there", func(context.Context) (bool, error) {
		last, err := c.tryLog("crashes", corev1.PodLogOptions{Previous: true})
		return err == nil && last == "exiting with 3\n", nil
	})
	never := c.pod("fails", "exit", "4")
	never.Spec.RestartPolicy = corev1.RestartPolicyNever
	c.create(never)
	p = c.await("fails", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if ended := c.mainStatus(p).State.Terminated; ended.ExitCode != 4 {
		t.Errorf("the end was %+v", ended)
	}
	c.remove("crashes")
}

func testInitContainers(t *testing.T, c *realCluster) {
	p := c.pod("initialised", "cat", "/shared/file")
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	mounts := []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
	p.Spec.Containers[0].VolumeMounts = mounts
	for _, word := range []string{"one", "two"} {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: word, Image: c.image, Args: []string{"write", "/shared/file", word}, VolumeMounts: mounts})
	}
	c.create(p)
	c.await("initialised", succeeded)
	if got := c.log("initialised", corev1.PodLogOptions{}); got != "one\ntwo\n" {
		t.Errorf("the file has %q", got)
	}
}

// testSharedMemory: what a container of a pod writes to /dev/shm is there for the next ones.
func testSharedMemory(t *testing.T, c *realCluster) {
	p := c.pod("sharing", "cat", "/dev/shm/file")
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	for _, word := range []string{"one", "two"} {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: word, Image: c.image, Args: []string{"write", "/dev/shm/file", word}})
	}
	c.create(p)
	c.await("sharing", succeeded)
	if got := c.log("sharing", corev1.PodLogOptions{}); got != "one\ntwo\n" {
		t.Errorf("the file has %q", got)
	}
	c.remove("sharing")
}

func testJobs(t *testing.T, c *realCluster) {
	jobs := c.client.BatchV1().Jobs(c.ns)
	for name, code := range map[string]string{"good": "0", "bad": "5"} {
		template := corev1.PodTemplateSpec{Spec: c.pod("", "exit", code).Spec}
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Template: template, BackoffLimit: new(int32(0))}}
		if _, err := jobs.Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, is := range map[string]func(*batchv1.Job) bool{
		"good": func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 },
		"bad":  func(j *batchv1.Job) bool { return j.Status.Failed == 1 },
	} {
		eventually(t, "job "+name, func(ctx context.Context) (bool, error) {
			j, err := jobs.Get(ctx, name, metav1.GetOptions{})
			return err == nil && is(j), err
		})
	}
}

// testVolumes: all that the API holds is in files, and follows when it changes.
func testVolumes(t *testing.T, c *realCluster) {
	maps := c.client.CoreV1().ConfigMaps(c.ns)
	config, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"key": "old"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, StringData: map[string]string{"key": "hidden"}}
	if _, err := c.client.CoreV1().Secrets(c.ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := c.pod("files", "serve")
	p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1234)), RunAsUser: new(int64(1000))}
	p.Spec.Containers[0].Env = []corev1.EnvVar{
		{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "secret"}, Key: "key"}}},
	}
	for volume, source := range map[string]corev1.VolumeSource{
		"config": {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}},
		"secret": {Secret: &corev1.SecretVolumeSource{SecretName: "secret"}},
		"memory": {EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}},
		"down": {DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
		}}},
	} {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: source})
		p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: "/volumes/" + volume})
	}
	c.create(p)
	c.await("files", ready)
	for path, want := range map[string]string{"config/key": "old", "secret/key": "hidden", "down/labels": `app="files"`} {
		if got := c.exec("files", "/pod", "cat", "/volumes/"+path); got != want {
			t.Errorf("%s has %q", path, got)
		}
	}
	if got := c.exec("files", "/pod", "env"); !strings.Contains(got, "POD=files") || !strings.Contains(got, "SECRET=hidden") {
		t.Errorf("environment: %s", got)
	}
	c.exec("files", "/pod", "write", "/volumes/memory/x", "text")
	if got := c.exec("files", "/pod", "status"); !strings.Contains(got, "Uid:\t1000") {
		t.Errorf("not user 1000: %s", got)
	}
	config.Data["key"] = "new"
	if _, err := maps.Update(t.Context(), config, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	eventually(t, "the file follows the ConfigMap", func(context.Context) (bool, error) {
		got, _, err := c.try("files", nil, false, "/pod", "cat", "/volumes/config/key") // there is a moment between the old file and the new one
		return err == nil && got == "new", nil
	})
	t.Log("a ConfigMap's file followed after", time.Since(begin))
	c.remove("files")
}

func testProbes(t *testing.T, c *realCluster) {
	http := func(port int) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt(port)}}
	}
	p := c.pod("probed", "serve")
	p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: http(8080), PeriodSeconds: 1}
	p.Spec.Containers[0].StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/pod", "echo"}}}, PeriodSeconds: 1}
	p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(8080)}}, PeriodSeconds: 1}
	c.create(p)
	sick := c.pod("sick", "serve")
	sick.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: http(81), PeriodSeconds: 1, FailureThreshold: 1}
	sick.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: http(82), PeriodSeconds: 1}
	c.create(sick)
	c.await("probed", ready)
	if p := c.await("sick", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount > 0 }); ready(p) {
		t.Error("a pod whose probe fails is ready")
	}
	c.remove("probed")
	c.remove("sick")
}

// testGrace: a container is asked to end, gets its time, and is ended; hooks run before.
func testGrace(t *testing.T, c *realCluster) {
	p := c.pod("polite", "graceful")
	p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
		PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/pod", "write", "/tmp/started", "yes"}}},
		PreStop:   &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/pod", "write", "/proc/1/fd/1", "about to stop"}}},
	}
	c.create(p)
	c.await("polite", ready)
	if got := c.exec("polite", "/pod", "cat", "/tmp/started"); got != "yes\n" {
		t.Errorf("the hook at the start wrote %q", got)
	}
	followed, err := c.client.CoreV1().Pods(c.ns).GetLogs("polite", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer followed.Close()
	begin := time.Now()
	c.remove("polite")
	t.Log("a pod that ends when it is asked to is deleted after", time.Since(begin))
	text := new(strings.Builder)
	buffer := make([]byte, 1000)
	for {
		n, err := followed.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	// The stock kubelet adds an error when the container is removed before it has asked whether that still runs. All
	// that was written comes first.
	if got, _, _ := strings.Cut(text.String(), "rpc error: code = NotFound"); got != "waiting\nabout to stop\ngoodbye\n" && got != "waiting\ngoodbye\n" {
		t.Errorf("logged %q", got)
	}
	stubborn := c.pod("stubborn", "stubborn")
	stubborn.Spec.TerminationGracePeriodSeconds = new(int64(3600))
	c.create(stubborn)
	c.await("stubborn", ready)
	eventually(t, "it does not listen any more", func(context.Context) (bool, error) {
		text, err := c.tryLog("stubborn", corev1.PodLogOptions{})
		return err == nil && text == "staying\n", nil
	})
	begin = time.Now()
	c.removeWith("stubborn", metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))})
	if took := time.Since(begin); took < time.Second {
		t.Errorf("a pod that does not end was deleted after %s, with a second's grace", took)
	}
}

// testImages: an image that is loaded into the cluster is found there; one that is nowhere is waited for.
func testImages(t *testing.T, c *realCluster) {
	missing := c.pod("missing")
	missing.Spec.Containers[0].Image = strings.Replace(c.image, "/test/pod:v1", "/test/none:v1", 1)
	c.create(missing)
	c.await("missing", func(p *corev1.Pod) bool {
		w := c.mainStatus(p).State.Waiting
		return w != nil && (w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff") && strings.Contains(w.Message, "slipway image load")
	})
	c.remove("missing")
	mirrored := c.pod("mirrored", "serve")
	mirrored.Spec.Containers[0].Image = "mirrored.example/pod:v1"
	c.create(mirrored)
	c.await("mirrored", ready)
	c.remove("mirrored")
	status := c.dial()
	status.send(`{"id": 1, "method": "status"}`)
	var answer struct{ Registry string }
	if err := json.Unmarshal(status.next("reply").Result, &answer); err != nil {
		t.Fatal(err)
	}
	at, err := name.ParseReference(answer.Registry + "/example.invalid_5000/team/app:v2")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(at, podImage(t)); err != nil {
		t.Fatal(err)
	}
	loaded := c.pod("loaded", "serve")
	loaded.Spec.Containers[0].Image = "example.invalid:5000/team/app:v2"
	c.create(loaded)
	c.await("loaded", ready)
	c.remove("loaded")
}

// awaitEvent waits for an Event about a pod.
func (c *realCluster) awaitEvent(pod, reason, text string) {
	c.t.Helper()
	eventually(c.t, "an Event "+reason+" of pod "+pod, func(ctx context.Context) (bool, error) {
		list, err := c.client.CoreV1().Events(c.ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
		if err != nil {
			return false, err
		}
		for _, e := range list.Items {
			if e.Reason == reason && strings.Contains(e.Message, text) {
				return true, nil
			}
		}
		return false, nil
	})
}

// refuses expects a pod not to be made, with these words.
func (c *realCluster) refuses(p *corev1.Pod, words string) {
	c.t.Helper()
	_, err := c.client.CoreV1().Pods(c.ns).Create(c.t.Context(), p, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		c.t.Errorf("pod %s: %v", p.Name, err)
	}
}

func testRefusals(t *testing.T, c *realCluster) {
	for name, change := range map[string]func(*corev1.PodSpec){
		"hostpid": func(s *corev1.PodSpec) { s.HostPID = true },
		"shared":  func(s *corev1.PodSpec) { s.ShareProcessNamespace = new(true) },
		"hostpath": func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "host", MountPath: "/host"}}
		},
	} {
		p := c.pod(name)
		change(&p.Spec)
		c.refuses(p, "real nodes refuse ")
	}
}

// testIdentity: a node has the rights of its own pods and no others.
func testIdentity(t *testing.T, c *realCluster) {
	node := *c.client.config
	node.Impersonate.UserName, node.Impersonate.Groups = "system:node:node-1", []string{"system:nodes", "system:authenticated"}
	_, err := clientsFor(&node).CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a node lists all secrets: %v", err)
	}
}
