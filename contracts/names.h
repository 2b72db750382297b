/* The scene's tables of names and calls. Private to the scene. */
#ifndef CONTRACTS_NAMES_H
#define CONTRACTS_NAMES_H

#include "scene.h"

/* Finds or makes the entry of a name; NULL when memory runs out. The bytes must stay. The pointer
 * lives until the next name is made. */
struct lapse_scene_name *lapse_scene_make(struct lapse_scene *scene, bool lease,
                                          struct lapse_bytes bucket, struct lapse_bytes name);

#endif
