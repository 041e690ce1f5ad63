package app

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"skillrouter/cmd/config"
	"skillrouter/comms"
	"skillrouter/router"
	"skillrouter/router/interlock"
)

// wireMesh opens the UDP mesh, if the settings ask for it.
func (a *App) wireMesh(ctx context.Context, p *parts) error {
	p.mesh, a.services.mesh = interlock.Off{}, comms.MeshOff
	a.services.outbound = meshOutbound(config.Address{Setting: "interlock.listen"}, nil)
	address, on := a.config.InterLockAddress()
	if !on || a.aside != nil {
		return nil
	}
	file, err := interlock.ReadFile(a.config.InterLockFile())
	if err != nil {
		return err
	}
	socket, err := interlock.Listen(address.Listen)
	if err != nil {
		return cannotListen(address, "UDP ", err)
	}
	a.life.defers("interlock socket", func() error { return ignoreClosed(socket.Close()) })
	mesh, err := interlock.New(ctx, socket, file, interlock.Services{
		Experiences: p.experiences, Lessons: p.lessons, Log: p.memory, Issued: p.tokens.Issued,
	}, interlock.Options{Now: a.now, Log: a.log})
	if err != nil {
		return err
	}
	a.life.run(ctx, "interlock", mesh.Run)
	p.mesh, p.meshStatus = mesh, mesh.Status
	a.services.mesh = comms.MeshOn + " (udp " + mesh.Address().String() + ")"
	a.services.outbound = meshOutbound(address, file.Peers)
	a.log.Info("the mesh is on", "address", mesh.Address().String(), "peers", len(file.Peers))
	return nil
}

// meshOutbound describes whom the mesh sends to: the peers that its file lists, and nobody else.
func meshOutbound(address config.Address, peers []interlock.Peer) router.Outbound {
	place := router.Outbound{Name: "mesh", Purpose: "tells peers what was learned", Setting: address.Setting, On: len(peers) > 0}
	targets := make([]string, 0, len(peers))
	for _, peer := range peers {
		targets = append(targets, "udp://"+peer.Address.String())
		place.Leaves = place.Leaves || !peer.Address.Addr().IsLoopback()
	}
	place.Target = strings.Join(targets, " ")
	return place
}

// plannedMesh is the meshOutbound that settings would make; a file that cannot be read would end the start.
func plannedMesh(c config.Config) router.Outbound {
	address, on := c.InterLockAddress()
	if !on {
		return meshOutbound(config.Address{Setting: "interlock.listen"}, nil)
	}
	file, err := interlock.ReadFile(c.InterLockFile())
	if err != nil {
		return meshOutbound(address, nil)
	}
	return meshOutbound(address, file.Peers)
}

// collectMesh gives the mesh's counters to the metrics.
func collectMesh(ch chan<- prometheus.Metric, mesh comms.Mesh) {
	count := func(desc *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
	}
	count(meshReceivedDesc, mesh.Received)
	count(meshUnsentDesc, mesh.Unsent)
	for signal, n := range mesh.Heard {
		count(meshHeardDesc, n, signal)
	}
	for signal, n := range mesh.Emitted {
		count(meshEmittedDesc, n, signal)
	}
	for reason, n := range mesh.Refused {
		count(meshRefusedDesc, n, reason)
	}
}

var (
	meshReceivedDesc = prometheus.NewDesc("skillrouter_interlock_received_total", "Datagrams that came in.", nil, nil)
	meshUnsentDesc   = prometheus.NewDesc("skillrouter_interlock_unsent_total", "Datagrams that could not be sent, and events passed over.", nil, nil)
	meshHeardDesc    = prometheus.NewDesc("skillrouter_interlock_heard_total", "Datagrams that were acted on, by signal.", []string{"signal"}, nil)
	meshEmittedDesc  = prometheus.NewDesc("skillrouter_interlock_emitted_total", "Datagrams that were sent to peers, by signal.", []string{"signal"}, nil)
	meshRefusedDesc  = prometheus.NewDesc("skillrouter_interlock_refused_total", "Datagrams that were refused, by reason.", []string{"reason"}, nil)
)
