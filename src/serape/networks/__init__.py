"""Bayesian networks: bundled networks, BIF files, sampling, tiling, exact blankets."""

from serape.networks.bif import read_bif, write_bif
from serape.networks.library import bundled_networks, load_network
from serape.networks.network import Network

__all__ = ["Network", "bundled_networks", "load_network", "read_bif", "write_bif"]
