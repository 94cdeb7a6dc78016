"""Networks: graphs, scores, searches by score, and the orientation of skeletons."""
