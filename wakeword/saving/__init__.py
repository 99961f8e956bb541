"""``--save`` of ``listen`` and ``serve``: a folder of saved detections, and the thread that fills it."""
