// Package imagestore is a node's store of images: it pulls them from registries and unpacks them for containers.
//
//	store, err := imagestore.Open(dir, imagestore.Options{Registry: "127.0.0.1:5000", Transport: …})
//	img, err := store.Pull(ctx, "nginx:1.29", nil)
//	img.Root   // the folder with its files
//	img, err = store.Current(ctx, "nginx:1.29") // the image to run now
//
// A pull first asks the cluster's own registry, for the canonical name with the registry in front: there `slipway image
// load` puts images. Other images come from the registry in their name, or its mirror.
//
// Each node treats images in the cluster's registry as present. So [Store.Current] asks the registry each time what a
// tag leads to. An older image that was pulled under the tag no longer counts.
//
// An image's layers are unpacked on top of each other into one folder, once, when it is pulled.
package imagestore
