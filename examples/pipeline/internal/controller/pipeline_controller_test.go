// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

// A Pipeline's life: its parts are as it says, steps come, change places, move and go, what others spoil comes back,
// and its end leaves nothing.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	pipeline := f.pipeline("life", "detect", "align")
	pipeline.Spec.Steps[0].Args = map[string]distriinferv1beta1.Argument{"listenPort": "9080", "batch": "4", "a": "b"}
	f.create(pipeline)
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	f.wantParts(pipeline)
	f.wantEvent(pipeline, "Created")
	f.account.AtRest(t, o.pass(pipeline))

	f.change(pipeline, func(s *distriinferv1beta1.PipelineSpec) {
		s.Steps = append(s.Steps, distriinferv1beta1.Step{Model: "name", Image: "example.com/step:v2", Location: "edge-b"})
		s.Steps[0], s.Steps[1] = s.Steps[1], s.Steps[0]
		s.Steps[0].Location, s.Steps[0].Image = "edge-a", "example.com/step:v2"
	})
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	f.wantParts(pipeline)
	f.change(pipeline, func(s *distriinferv1beta1.PipelineSpec) { s.Steps = s.Steps[:1] })
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	f.wantParts(pipeline)
	f.wantEvent(pipeline, "Deleted")
	f.account.AtRest(t, o.pass(pipeline))

	f.spoil(pipeline)
	f.wantParts(pipeline)
	f.account.AtRest(t, o.pass(pipeline))

	f.remove(pipeline)
	f.WaitForEmpty(t, f.namespace)
	f.wantNoVolume(pipeline)
	f.wantValidOwners()
	// Clusters that protect owners ask for the permission on finalizers; this one does not.
	f.account.LeastPermissions(t, "update pipelines/finalizers.distri-infer.ndsl.cn")
}

// wantParts checks that a Pipeline has the parts that it asks for, and no others.
func (f *fixture) wantParts(pipeline *distriinferv1beta1.Pipeline) {
	f.Helper()
	for _, p := range newParts(pipeline) {
		if err := f.user.Get(f.Context(), client.ObjectKeyFromObject(p.Object), p.Object); err != nil {
			f.Fatal(err)
		}
		if !metav1.IsControlledBy(p, pipeline) || p.GetLabels()["pipeline"] != pipeline.Name {
			f.Errorf("the %s %s has the owners %v and the labels %v", kindOf(p.Object), p.GetName(), p.GetOwnerReferences(), p.GetLabels())
		}
	}
	f.wantStorage(pipeline)
	for i := range pipeline.Spec.Steps {
		f.wantStep(pipeline, &pipeline.Spec.Steps[i])
	}
	f.eventually("only the steps are left", func() (bool, error) {
		var deployments appsv1.DeploymentList
		var services corev1.ServiceList
		err := f.user.List(f.Context(), &deployments, client.InNamespace(f.namespace))
		if err == nil {
			err = f.user.List(f.Context(), &services, client.InNamespace(f.namespace))
		}
		n := len(pipeline.Spec.Steps)
		return len(deployments.Items) == n && len(services.Items) == n, err
	})
	if d := pipeline.Status.DetailPhase; d.PVPhase != "Bound" || d.PVCPhase != "Bound" || running(d.StepsPhase) != len(pipeline.Spec.Steps) {
		f.Errorf("the phases are %+v", d)
	}
	if s := pipeline.Status; s.Phase != distriinferv1beta1.PhaseRunning || s.Ready != fmt.Sprintf("%[1]d/%[1]d", len(pipeline.Spec.Steps)) {
		f.Errorf("the status is %s, with %s steps", s.Phase, s.Ready)
	}
}

// wantStorage checks that the volume has the share, and that the claim is bound to it.
func (f *fixture) wantStorage(pipeline *distriinferv1beta1.Pipeline) {
	f.Helper()
	volume, claim := f.storage(pipeline)
	share := pipeline.Spec.ModelStorage.CSIParameter
	if nfs := volume.Spec.NFS; nfs == nil || nfs.Server != share.Server || nfs.Path != share.Share {
		f.Errorf("the volume's source is %+v", volume.Spec.PersistentVolumeSource)
	}
	if ref := volume.Spec.ClaimRef; ref == nil || ref.UID != claim.UID || claim.Status.Phase != corev1.ClaimBound {
		f.Errorf("the claim is %s, and the volume's claim is %+v", claim.Status.Phase, ref)
	}
}

func (f *fixture) storage(pipeline *distriinferv1beta1.Pipeline) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	f.Helper()
	volume, claim := newVolume(pipeline).Object.(*corev1.PersistentVolume), newClaim(pipeline).Object.(*corev1.PersistentVolumeClaim)
	for _, o := range []client.Object{volume, claim} {
		if err := f.user.Get(f.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			f.Fatal(err)
		}
	}
	return volume, claim
}

// wantStep checks that the pods of a step are where they should be, and that its Service leads to them.
func (f *fixture) wantStep(pipeline *distriinferv1beta1.Pipeline, step *distriinferv1beta1.Step) {
	f.Helper()
	var pods corev1.PodList
	f.eventually(step.Model+" has one pod", func() (bool, error) {
		err := f.user.List(f.Context(), &pods, client.InNamespace(f.namespace), client.MatchingLabels(stepLabels(pipeline, step)))
		return len(pods.Items) == 1 && pods.Items[0].DeletionTimestamp == nil, err
	})
	spec := pods.Items[0].Spec
	c := spec.Containers[0]
	if spec.NodeName != step.Location || c.Image != step.Image || spec.Volumes[0].PersistentVolumeClaim.ClaimName != storageName(pipeline) {
		f.Errorf("%s runs %s on %s with the volumes %v", step.Model, c.Image, spec.NodeName, spec.Volumes)
	}
	if len(step.Args) > 0 && !slices.Equal(c.Args, []string{"--a=b", "--batch=4", "--listenPort=9080"}) {
		f.Errorf("the arguments are %q", c.Args)
	}
	var service corev1.Service
	if err := f.user.Get(f.Context(), client.ObjectKey{Namespace: f.namespace, Name: step.Model}, &service); err != nil {
		f.Fatal(err)
	}
	if service.Spec.Ports[0].TargetPort.IntVal != c.Ports[0].ContainerPort || service.Spec.Selector["step"] != pods.Items[0].Labels["step"] {
		f.Errorf("the Service of %s is %+v, the container listens at %+v", step.Model, service.Spec, c.Ports)
	}
}

// spoil changes and deletes parts as a user may by mistake, and waits until all is as it was. What Pipelines have no
// opinion about stays.
func (f *fixture) spoil(pipeline *distriinferv1beta1.Pipeline) {
	f.Helper()
	volume, claim := f.storage(pipeline)
	model := pipeline.Spec.Steps[0].Model
	var deployment appsv1.Deployment
	var service corev1.Service
	for _, o := range []client.Object{&deployment, &service} {
		if err := f.user.Get(f.Context(), client.ObjectKey{Namespace: f.namespace, Name: model}, o); err != nil {
			f.Fatal(err)
		}
	}
	deployment.Spec.Template.Spec.NodeSelector, deployment.Spec.RevisionHistoryLimit = nil, new(int32(2))
	service.Spec.Ports[0].Port = 81
	volume.Labels, claim.Labels = nil, nil
	for _, o := range []client.Object{&deployment, &service, volume, claim} {
		if err := f.user.Update(f.Context(), o); err != nil {
			f.Fatal(err)
		}
	}
	f.eventually("the parts are as they were", func() (bool, error) {
		for _, o := range []client.Object{&deployment, &service, volume, claim} {
			if err := f.user.Get(f.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return false, err
			}
		}
		return deployment.Spec.Template.Spec.NodeSelector != nil && service.Spec.Ports[0].Port == servicePort &&
			volume.Labels != nil && claim.Labels != nil && deploymentPhase(&deployment) == distriinferv1beta1.PhaseRunning, nil
	})
	if *deployment.Spec.RevisionHistoryLimit != 2 {
		f.Error("a field was changed back that Pipelines have no opinion about")
	}
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
}

// wantNoVolume waits until the volume has gone, too. It is in no namespace.
func (f *fixture) wantNoVolume(pipeline *distriinferv1beta1.Pipeline) {
	f.Helper()
	f.eventually("the volume is gone", func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKey{Name: storageName(pipeline)}, &corev1.PersistentVolume{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// wantValidOwners checks that the garbage collector has met no owner across the scopes.
func (f *fixture) wantValidOwners() {
	f.Helper()
	var list corev1.EventList
	if err := f.user.List(f.Context(), &list, client.MatchingFields{"reason": "OwnerRefInvalidNamespace"}); err != nil || len(list.Items) > 0 {
		f.Errorf("events about owners across scopes: %v, %v", list.Items, err)
	}
}

// wantEvent waits for an event about a Pipeline. It is in the namespace default, since a Pipeline is in none.
func (f *fixture) wantEvent(pipeline *distriinferv1beta1.Pipeline, reason string) {
	f.Helper()
	f.eventually("an event "+reason, func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(metav1.NamespaceDefault))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == pipeline.UID
		}), err
	})
}
